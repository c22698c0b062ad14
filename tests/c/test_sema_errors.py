"""
One small program per user-visible error: where the caret stands, what is said, what to write.

The `^` under each program marks the column of the error (on the program's last line).
"""

import pytest
from sema_dump import mistake

ERRORS = r"""
int count; int f(void) { return cuont; }
                                ^ 'cuont' is not declared | did you mean 'count'?
int f(void) { return zork; }
                     ^ 'zork' is not declared | declare it before this line
double f(void) { return M_PI; }
                        ^ 'M_PI' is not declared | add '#include <math.h>'
int g(int a, int b); int f(void) { return g(1); }
                                          ^ too few arguments to 'g': it takes 2, 1 given | pass 2
int g(int a, ...); int f(void) { return g(); }
                                        ^ too few arguments to 'g': it takes at least 1 | pass at least 1
int g(int a); int f(void) { return g(1, 2); }
                                   ^ too many arguments to 'g': it takes 1, 2 given | pass 1 argument
_Float16 h; int f(void) { return h % 2; }
                                 ^ operator '%' needs integers, not '_Float16' and 'int' | use fmod
_Float16 h; int f(void) { return ~h; }
                                 ^ unary '~' on '_Float16' | must be an integer
_Float16 h; int *f(void) { return (int *)h; }
                                  ^ '_Float16' cannot be cast to 'int *' | do not mix
_Float16 h; int f(int *p) { return p[h]; }
                                     ^ an array subscript has type '_Float16' | integer
_Float16 _Complex z;
^ complex numbers of '_Float16' are not supported | use 'float _Complex'
_Float16 h; double f(void) { return __real__ __builtin_complex(h, h); }
                                             ^ complex numbers of '_Float16' are not supported | 'float
unsigned _Float16 h;
^ 'unsigned _Float16' is not a type | write
_Float16 long h;
^ '_Float16 long' is not a type | write
struct s { _Float16 h : 3; };
                        ^ a bit-field of type '_Float16' | use an integer type
__fp16 h;
^ unknown type name '__fp16' | write '_Float16'
__bf16 h;
^ unknown type name '__bf16' | use 'float', or 'unsigned short'
double d = __builtin_sqrtf16(2.0f16);
           ^ built-in '__builtin_sqrtf16' is not supported |
struct s { int a; }; int g(int x); void f(struct s v) { g(v); }
                                                          ^ argument 1 of 'g': 'struct s' does not | value of
struct s { int alpha; }; int f(struct s *p) { return p->alpa; }
                                                        ^ 'struct s' has no member 'alpa' | mean 'alpha'?
struct s { int a; }; int f(struct s *p) { return p.a; }
                                                   ^ '.a' on a pointer | write '->a'
struct s { int a; }; int f(struct s p) { return p->a; }
                                                   ^ '->a' on a structure | write '.a'
void f(const int *p) { *p = 3; }
                       ^ cannot assign to what 'p' points to: it is const | remove 'const'
void f(const int *p) { p[1]++; }
                       ^ cannot apply '++' to an element of 'p': it is const | remove 'const'
void f(void) { const int x = 1; x += 2; }
                                ^ cannot apply '+=' to 'x': it is const | remove 'const'
void f(void) { 3 = 4; }
               ^ cannot assign to a value that is not an object | must be a variable
void f(void) { int a[3]; a = 0; }
                         ^ cannot assign to 'a': it is an array | in a loop
void f(void) { struct t x; }
                        ^ 'x' has incomplete type 'struct t' | define the type
struct t; int f(struct t *p) { return p->x; }
                                         ^ 'struct t' is incomplete | include its definition
int f(int x) { return x; } int f(int x) { return x; }
                               ^ function 'f' is defined twice | remove one
void f(void) { int x; int x; }
                          ^ 'x' is already declared as a variable | rename
void f(int x) { int x; }
                    ^ 'x' is already declared as a parameter | rename
int x = 1; int x = 2;
               ^ 'x' is initialised twice | remove one
int f(int); double f(int);
                   ^ 'f' is declared as 'double (int)' here and as 'int (int)' before | agree
extern int x; double x;
                     ^ 'x' is declared as 'double' here and as 'int' before | agree
void f(void) { break; }
               ^ 'break' outside a loop or switch | remove it
void f(void) { while (1) { } continue; }
                             ^ 'continue' outside a loop | remove it
void f(void) { goto out; ouf: ; }
               ^ label 'out' is not defined in 'f' | did you mean 'ouf'?
void f(void) { a: ; a: ; }
                    ^ label 'a' is defined twice | rename
void f(void) { case 1: ; }
               ^ 'case' outside 'switch' | move it
void f(int x) { switch (x) { case 1: case 1: ; } }
                                     ^ 'case 1' appears twice | remove one
void f(int x, int y) { switch (x) { case y: ; } }
                                    ^ the value of 'case' is not an integer constant | use a constant
void f(int *p, double d) { p = d; }
                               ^ assigning to 'p': 'double' does not convert to 'int *' | value of that type
void f(int *p) { p = 3; }
                     ^ assigning to 'p': integer 'int' does not convert to pointer 'int *' | '&'
void f(int x, int *p) { x = p; }
                            ^ assigning to 'x': pointer 'int *' does not convert to integer 'int' | derefer
void f(double d) { d % 2; }
                   ^ operator '%' needs integers, not 'double' and 'int' | fmod
void f(int *p, int *q) { p + q; }
                         ^ operator '+' does not apply to 'int *' and 'int *' | convert
void f(int *p) { if (p == 1.0) ; }
                     ^ comparison of 'int *' with 'double' | NULL
void f(int x) { x[3] = 1; }
                ^ 'int' cannot be subscripted | declare it as an array
void f(int *x, double i) { x[i] = 1; }
                             ^ an array subscript has type 'double' | cast with '(int)'
void f(int x) { *x = 1; }
                ^ '*' on 'int', which is not a pointer | remove the '*'
void f(int x) { x(); }
                ^ 'int' is not a function | remove
void f(void *p) { int x = *p; }
                          ^ a 'void *' cannot be dereferenced | cast it
void g(void); int f(void) { return g() + 1; }
                                   ^ operator '+' does not apply to 'void' and 'int' | no value
void f(int x) { &3; }
                ^ '&' needs an object | variable first
struct b { int x : 3; } v; int *p = &v.x;
                                    ^ a bit-field has no address | copy it
struct s { int a; } v; void f(void) { if (v) ; }
                                          ^ the condition of 'if' has type 'struct s' | compare
int a[-1];
      ^ array length -1 is negative | at least 1
int n; int a[n];
             ^ must be a constant | '#define'
int x; int y = x + 1;
               ^ initialising 'y': the value is not a constant | at run time
int f(int n) { int a[n] = {0}; return a[0]; }
                           ^ variable-length array 'a' cannot have an initialiser | in a loop
int a[2] = {1, 2, 3};
                  ^ initialising 'a': too many values for 'int[2]' | in excess
int a[2] = {[5] = 1};
            ^ initialising 'a': index 5 is outside 'int[2]' | within the array
struct s { int apple; } x = { .aple = 1 };
                               ^ initialising 'x': 'struct s' has no member 'aple' | did you mean 'apple'?
int a[3] = 5;
           ^ initialising 'a': an array needs a braced list | '{
struct s { int a; int a; };
                      ^ member 'a' is declared twice | rename
struct s { struct s x; };
                    ^ member 'x' has incomplete type 'struct s' | use a pointer: 'struct s *x'
struct s { int a[]; int b; };
                        ^ member after the flexible array 'a' | last
struct b { int x : 40; };
                   ^ the width of a bit-field of 'int' must be a constant from 1 to 32 |
enum { A, B, A };
             ^ 'A' is already declared as an enumeration constant | rename
_Static_assert(sizeof(int) == 8, "wide int");
^ static assertion failed: wide int |
void f(void) { void x; }
                    ^ variable 'x' has type void | use a type with values
int f(k) int k, m; { return k; }
                ^ 'm' is declared among the parameters of 'f', but is none | move the declaration
int f(int); int f(x) double x; { return x; }
                ^ 'f' is declared as 'int (double)' here and as 'int (int)' before | agree
int f(x) double x; { return x; } int f(int);
                                     ^ 'f' is declared as 'int (int)' here and as | agree
void f(int a, int a) { }
                  ^ parameter 'a' is declared twice | rename
void f(int n, ...) { __builtin_va_list a; __builtin_va_arg(a, float); }
                                          ^ va_arg of 'float': variable arguments are | va_arg(…, double)
void f(int n) { __builtin_va_list a; __builtin_va_start(a, n); }
                                     ^ va_start in a function without '…' | '...'
_Complex int z;
^ '_Complex int' is not a type | double _Complex
void f(double _Complex z) { z = z % 2; }
                                ^ operator '%' does not apply to 'double _Complex' | compare
int f(double _Complex z) { return z < 2; }
                                  ^ operator '<' does not apply to 'double _Complex' | compare their parts
void f(double _Complex *z, int i) { z[i++] *= 2; }
                                    ^ '*=' on a complex number whose address has side effects | before
void f(double _Complex z) { z++; }
                            ^ '++' on 'double _Complex' | number
struct s { int x; } v; double _Complex z; void f(void) { z = v; }
                                                             ^ does not convert to 'double | value of
struct s { int a[8]; }; _Atomic struct s x; int f() { return (x, 0); }
                                                              ^ an atomic object of 32 bytes | mutex
int y = ({ 1; });
         ^ a statement expression '({ … })' outside a function | static inline function
int f(int c) { switch (c) { case 3 ... 1: return 1; } return 0; }
                            ^ 'case 3 ... 1' has no values | lower value first
int a[9] = { [5 ... 2] = 1 };
             ^ initialising 'a': an empty range | lower index first
struct __attribute__((scalar_storage_order("big-endian"))) s { char c; };
                      ^ attribute 'scalar_storage_order' is not supported | byte order
void f(void) { __builtin_apply(0, 0, 0); }
               ^ built-in '__builtin_apply' is not supported | call the function
int f(void) { int y = 1 return y; }
                       ^ expected ';' before 'return' | write ';' here
int f(void { return 1; }
           ^ expected ')' before '{' | write ')' here
int f(int a[3) { return 1; }
             ^ expected ']' before ')' | write ']' here
int f(void) { return 1 +; }
                        ^ syntax error before ';' | missing operator
int f(void) { foo_t x; return 1; }
              ^ unknown type name 'foo_t' | typedef
int f(int a, uint32_t x);
             ^ unknown type name 'uint32_t' | '#include <stdint.h>'
typedef int size_type; size_tipe x;
                       ^ unknown type name 'size_tipe' | did you mean 'size_type'?
void f(int a) { void g(void) { } }
                            ^ expected ';' before '{' | functions cannot be defined inside functions
char *s = "abc;
          ^ unterminated string literal | close it
int f(void) { return 1;
^ unexpected end of file | missing '}'
"""


def _cases() -> list[tuple[str, int, str, str]]:
    lines = ERRORS.strip("\n").split("\n")
    out: list[tuple[str, int, str, str]] = []
    for program, marker in zip(lines[::2], lines[1::2], strict=True):
        column = marker.index("^") + 1
        message, _, remedy = marker[column:].partition("|")
        out.append((program, column, message.strip(), remedy.strip()))
    return out


@pytest.mark.parametrize(("program", "column", "message", "remedy"), _cases())
def test_error(program: str, column: int, message: str, remedy: str) -> None:
    d = mistake(program)
    assert message in d.message
    assert remedy in (d.remedy or "")
    assert d.loc.file == "t.c"
    if message != "unexpected end of file":
        assert (d.loc.line, d.loc.column) == (1, column)


def test_notes_show_the_other_place() -> None:
    d = mistake("int g(int a);\nint f(void) { return g(); }")
    assert [(str(loc), text) for loc, text in d.notes] == [("t.c:1:5", "declared as 'int (int)'")]


def test_position_after_line_marker() -> None:
    d = mistake('# 1 "a.h"\nint x;\n# 12 "main.c"\n\nint f(void) { return y; }')
    assert str(d.loc) == "main.c:13:22"


def test_position_of_refused_extension_after_line_marker() -> None:
    d = mistake('# 12 "main.c"\n\nvoid f(void) __attribute__((naked));')
    assert str(d.loc) == "main.c:13:29"
