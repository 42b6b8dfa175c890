// Faults that check_objective_cxx.py must find, each planted alone behind apple_device.mm: see faults.metal.

//// newer_than_macos_14: 'setMathMode:' is only available on macOS 15.0 or newer
void fault(MTLCompileOptions* options) { options.mathMode = MTLMathModeSafe; }

//// newer_language: 'MTLLanguageVersion3_2' is only available on macOS 15.0 or newer
void fault(MTLCompileOptions* options) { options.languageVersion = MTLLanguageVersion3_2; }

//// older_check: 'setMathMode:' is only available on macOS 15.0 or newer
void fault(MTLCompileOptions* options) {
  if (@available(macOS 14.0, *)) options.mathMode = MTLMathModeSafe;
}

//// unknown_message: no known instance method for selector 'newBuffer:'
id<MTLBuffer> fault(id<MTLDevice> device) { return [device newBuffer:16]; }

//// another_object: incompatible|cannot initialize
id<MTLBuffer> fault(id<MTLDevice> device) { return [device newCommandQueue]; }

//// null: null passed to a callee that requires a non-null argument
void fault(id<MTLComputeCommandEncoder> encoder) { [encoder setComputePipelineState:nil]; }

//// pointer_without_a_bridge: requires a bridged cast
void* fault(id<MTLBuffer> buffer) { return (void*)buffer; }

//// status_written: assignment to readonly property
void fault(id<MTLCommandBuffer> commands) { commands.status = MTLCommandBufferStatusError; }
