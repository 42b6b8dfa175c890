// Declarations of what apple_device.mm takes of Foundation, as Apple documents it, so that any clang can check its
// syntax and types.
#ifndef EGGROLL_TESTS_FOUNDATION_H
#define EGGROLL_TESTS_FOUNDATION_H

// The newest SDK whose declarations are here: what is newer than macOS 14 says so, and clang wants a check of the
// version at run time where it is used.
#define __MAC_OS_X_VERSION_MAX_ALLOWED 150000
#define API_AVAILABLE_FROM(version) __attribute__((availability(macos, introduced = version)))
#define API_DEPRECATED_FROM(version) __attribute__((availability(macos, introduced = 10.11, deprecated = version)))

#pragma clang assume_nonnull begin

typedef signed char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef double CFTimeInterval;
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
@property(nullable, readonly) const char* UTF8String;
+ (nullable instancetype)stringWithUTF8String:(const char*)text;
@end

@interface NSError : NSObject
@property(readonly) NSInteger code;
@property(readonly, copy) NSString* domain;
@property(readonly, copy) NSString* localizedDescription;
@end

typedef struct {
  unsigned long state;
  id __unsafe_unretained _Nullable* _Nullable itemsPtr;
  unsigned long* _Nullable mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@interface NSArray<Element> : NSObject
@property(readonly) NSUInteger count;
@property(nullable, nonatomic, readonly) Element firstObject;
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained _Nullable[_Nonnull])buffer
                                    count:(NSUInteger)length;
@end

#pragma clang assume_nonnull end

#endif
