/* Constant expressions with alignments in attributes, as in the headers of gcc and clang. */
#include <stdio.h>
struct q { char c; double d __attribute__((aligned(__alignof__(long double)))); };
int g __attribute__((__aligned__(2 * __alignof(double)), __unused__));
typedef double a32 __attribute__((aligned(sizeof(int) > 2 ? 4 * __alignof__(double) : 1)));
struct __attribute__((packed, aligned(__alignof__(int)))) r { char c; long l; };
_Alignas(__alignof__(struct q)) char z;
int main(void) { a32 v __attribute__((__unused__, __aligned__(__alignof__ (g)))); int w __attribute__((aligned(__alignof__(struct q)), unused));
 __attribute__((aligned(__alignof__(__extension__ (1 ? 1 : 2)) * 8))) int y; (void)y;

  int wrong = _Alignof(struct q) != 16 || __alignof__(g) != 16 || _Alignof(a32) != 32;
  wrong |= _Alignof(struct r) != 4 || sizeof(struct r) != 12 || ((size_t)&v | (size_t)&w) % 16;
  puts(wrong ? "wrong" : "OK");
  return wrong;
}
