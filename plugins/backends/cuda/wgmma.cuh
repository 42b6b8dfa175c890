// What compute capability 9.0 adds to mma.cuh: the tensor cores' asynchronous int8 product, barriers in shared memory,
// and the copy engine that brings bytes to them.
#ifndef EGGROLL_CUDA_WGMMA_CUH
#define EGGROLL_CUDA_WGMMA_CUH

#include <cstdint>

namespace eggroll::cuda {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool kHasWgmma = true;
#define EGG_WGMMA(...) asm volatile("wgmma." __VA_ARGS__)
#else
constexpr bool kHasWgmma = false;
#define EGG_WGMMA(...)
#endif

// ---- Barriers: a phase ends when `count` threads have arrived and the bytes announced have come ----
__device__ inline void init_barrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// Waits for the end of the phase of this parity.
__device__ inline void wait_for(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Whether it has ended, after a short wait.
__device__ inline bool has_ended(uint32_t barrier, uint32_t parity) {
  uint32_t ended = 0;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}\n"
      : "=r"(ended)
      : "r"(barrier), "r"(parity)
      : "memory");
  return ended != 0;
}

// This thread arrives at the barrier, which makes the phase wait for this number of bytes too.
__device__ inline void announce(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Waits for the ends of both phases.
__device__ inline void wait_for(uint32_t barrier, uint32_t parity, uint32_t other, uint32_t other_parity) {
  asm volatile(
      "{\n"
      ".reg .pred done, also;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 also, [%2], %3;\n"
      "and.pred done, done, also;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity), "r"(other), "r"(other_parity)
      : "memory");
}

// Brings bytes announced at the barrier, a multiple of 16, from device to shared memory.
__device__ inline void bring(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
// The same, announced by this thread's arrival.
__device__ inline void fetch(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  announce(barrier, bytes);
  bring(to, from, bytes, barrier);
}
// The same of bytes that the L2 cache gives up first when it needs room.
__device__ inline void fetch_passing(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  announce(barrier, bytes);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}

// Brings bytes, a multiple of 16, to the L2 cache.
__device__ inline void prefetch(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

// This thread's loads and stores of shared memory come before what follows, behind a barrier, of asynchronous ones.
__device__ inline void publish_to_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- Products of a warpgroup ----
// A matrix in shared memory: rows of 16 bytes, eight of them together, the next eight behind; the next 16 bytes of the
// rows `plane` bytes further. Half of a descriptor: the address in units of 16 bytes may be added to; the other half,
// the distance of eight rows from the next, is the same for all.
__device__ inline uint32_t describe(uint32_t address, uint32_t plane) { return address >> 4 | plane >> 4 << 16; }
__device__ inline uint64_t descriptor(uint32_t description) {
  constexpr uint64_t kEightRows = 128;
  return description | (kEightRows >> 4) << 32;
}

#define EGG_HALF_SUMS(op, s)                                                                                  \
  op((s)[0]), op((s)[1]), op((s)[2]), op((s)[3]), op((s)[4]), op((s)[5]), op((s)[6]), op((s)[7]), op((s)[8]), \
      op((s)[9]), op((s)[10]), op((s)[11]), op((s)[12]), op((s)[13]), op((s)[14]), op((s)[15])
#define EGG_SUMS(op, s)                                                                                       \
  op((s)[0]), op((s)[1]), op((s)[2]), op((s)[3]), op((s)[4]), op((s)[5]), op((s)[6]), op((s)[7]), op((s)[8]), \
      op((s)[9]), op((s)[10]), op((s)[11]), op((s)[12]), op((s)[13]), op((s)[14]), op((s)[15]), op((s)[16]),  \
      op((s)[17]), op((s)[18]), op((s)[19]), op((s)[20]), op((s)[21]), op((s)[22]), op((s)[23]), op((s)[24]), \
      op((s)[25]), op((s)[26]), op((s)[27]), op((s)[28]), op((s)[29]), op((s)[30]), op((s)[31])
#define EGG_WRITTEN(x) "=r"(x)
#define EGG_CHANGED(x) "+r"(x)
#define EGG_PRODUCT                                                                                            \
  "mma_async.sync.aligned.m64n64k32.s32.s8.s8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17," \
  "%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, "

// d (64 x 64) = or += a (64 x 32) b (32 x 64), a and b by rows and by columns. In thread t of the warpgroup, with
// g = t % 32 / 4 and c = t % 4, d[4 j + 2 h + e] is column 8 j + 2 c + e of row t / 32 * 16 + g + 8 h.
__device__ inline void begin_product(int32_t (&d)[32], uint32_t a, uint32_t b) {
  EGG_WGMMA(EGG_PRODUCT "0;\n" : EGG_SUMS(EGG_WRITTEN, d) : "l"(descriptor(a)), "l"(descriptor(b)) : "memory");
}
__device__ inline void add_product(int32_t (&d)[32], uint32_t a, uint32_t b) {
  EGG_WGMMA(EGG_PRODUCT "1;\n" : EGG_SUMS(EGG_CHANGED, d) : "l"(descriptor(a)), "l"(descriptor(b)) : "memory");
}

// The same with a in registers: of row t / 32 * 16 + g + 8 h of thread t, bytes 16 k + 4 c to + 3 in a[2 k + h].
#define EGG_OWN_PRODUCT                                                                                        \
  "mma_async.sync.aligned.m64n64k32.s32.s8.s8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17," \
  "%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32, %33, %34, %35}, %36, "
#define EGG_OWN_HALF_PRODUCT                                                                             \
  "mma_async.sync.aligned.m64n32k32.s32.s8.s8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, " \
  "{%16, %17, %18, %19}, %20, "
#define EGG_OWN(a) "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3])
__device__ inline void begin_product(int32_t (&d)[32], const uint32_t* a, uint32_t b) {
  EGG_WGMMA(EGG_OWN_PRODUCT "0;\n" : EGG_SUMS(EGG_WRITTEN, d) : EGG_OWN(a), "l"(descriptor(b)) : "memory");
}
__device__ inline void add_product(int32_t (&d)[32], const uint32_t* a, uint32_t b) {
  EGG_WGMMA(EGG_OWN_PRODUCT "1;\n" : EGG_SUMS(EGG_CHANGED, d) : EGG_OWN(a), "l"(descriptor(b)) : "memory");
}

// The same of the first 32 columns.
__device__ inline void begin_product(int32_t (&d)[16], const uint32_t* a, uint32_t b) {
  EGG_WGMMA(EGG_OWN_HALF_PRODUCT "0;\n" : EGG_HALF_SUMS(EGG_WRITTEN, d) : EGG_OWN(a), "l"(descriptor(b)) : "memory");
}
__device__ inline void add_product(int32_t (&d)[16], const uint32_t* a, uint32_t b) {
  EGG_WGMMA(EGG_OWN_HALF_PRODUCT "1;\n" : EGG_HALF_SUMS(EGG_CHANGED, d) : EGG_OWN(a), "l"(descriptor(b)) : "memory");
}

// One b of 64 kBlocks columns: d[i] is of columns 64 i to 64 i + 63.
#define EGG_LIST_0                                                                                                     \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30," \
  "%31"
#define EGG_LIST_1                                                                                                    \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%" \
  "60,%61,%62,%63"
#define EGG_LIST_2                                                                                                    \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%" \
  "92,%93,%94,%95"
#define EGG_LIST_3                                                                                                   \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%" \
  "119,%120,%121,%122,%123,%124,%125,%126,%127"
#define EGG_WIDE(n) "mma_async.sync.aligned.m64n" n "k32.s32.s8.s8 "
template <uint32_t kBlocks>
__device__ inline void add_wide_product(int32_t (&d)[kBlocks][32], const uint32_t* a, uint32_t b) {
  if constexpr (kBlocks == 1) {
    add_product(d[0], a, b);
  } else if constexpr (kBlocks == 2) {
    EGG_WGMMA(EGG_WIDE("128") "{" EGG_LIST_0 "," EGG_LIST_1 "}, {%64,%65,%66,%67}, %68, 1;\n"
              : EGG_SUMS(EGG_CHANGED, d[0]), EGG_SUMS(EGG_CHANGED, d[1])
              : EGG_OWN(a), "l"(descriptor(b))
              : "memory");
  } else if constexpr (kBlocks == 3) {
    EGG_WGMMA(EGG_WIDE("192") "{" EGG_LIST_0 "," EGG_LIST_1 "," EGG_LIST_2 "}, {%96,%97,%98,%99}, %100, 1;\n"
              : EGG_SUMS(EGG_CHANGED, d[0]), EGG_SUMS(EGG_CHANGED, d[1]), EGG_SUMS(EGG_CHANGED, d[2])
              : EGG_OWN(a), "l"(descriptor(b))
              : "memory");
  } else {
    static_assert(kBlocks == 4);
    EGG_WGMMA(EGG_WIDE("256") "{" EGG_LIST_0 "," EGG_LIST_1 "," EGG_LIST_2 "," EGG_LIST_3
                              "}, {%128,%129,%130,%131}, %132, 1;\n"
              : EGG_SUMS(EGG_CHANGED, d[0]), EGG_SUMS(EGG_CHANGED, d[1]), EGG_SUMS(EGG_CHANGED, d[2]),
                EGG_SUMS(EGG_CHANGED, d[3])
              : EGG_OWN(a), "l"(descriptor(b))
              : "memory");
  }
}

// Before products: what this thread did to registers and shared memory comes first.
__device__ inline void order_products() { EGG_WGMMA("fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { EGG_WGMMA("commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most kLeft commits are under way.
template <int kLeft>
__device__ inline void wait_products() {
  EGG_WGMMA("wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
// Must come after the wait that ends this product. Sums may be read from here on.
__device__ inline void take_sums(int32_t (&d)[32]) { asm volatile("" : EGG_SUMS(EGG_CHANGED, d)::"memory"); }
__device__ inline void take_sums(int32_t (&d)[16]) { asm volatile("" : EGG_HALF_SUMS(EGG_CHANGED, d)::"memory"); }

#undef EGG_SUMS
#undef EGG_HALF_SUMS
#undef EGG_WRITTEN
#undef EGG_CHANGED
#undef EGG_PRODUCT
#undef EGG_OWN_PRODUCT
#undef EGG_OWN_HALF_PRODUCT
#undef EGG_OWN
#undef EGG_LIST_0
#undef EGG_LIST_1
#undef EGG_LIST_2
#undef EGG_LIST_3
#undef EGG_WIDE
#undef EGG_WGMMA

}  // namespace eggroll::cuda

#endif
