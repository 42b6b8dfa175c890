// Declarations of what apple_device.mm takes of Foundation, as Apple documents it, so that any clang can check its
// syntax and types.
#ifndef EGGROLL_TESTS_FOUNDATION_H
#define EGGROLL_TESTS_FOUNDATION_H

#define __MAC_OS_X_VERSION_MAX_ALLOWED 150000

typedef signed char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil nullptr

@protocol NSObject
@end
__attribute__((objc_root_class))
@interface NSObject<NSObject>
+ (instancetype)new;
@end

@interface NSString : NSObject
@property(readonly) const char* UTF8String;
+ (instancetype)stringWithUTF8String:(const char*)text;
@end

@interface NSError : NSObject
@property(readonly, copy) NSString* localizedDescription;
@end

#endif
