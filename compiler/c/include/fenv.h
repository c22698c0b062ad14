/* Floating-point environment (C11 7.6). */
#pragma once
#define FE_TONEAREST 0
#ifdef __aarch64__
#define FE_INVALID 0x01
#define FE_DIVBYZERO 0x02
#define FE_OVERFLOW 0x04
#define FE_UNDERFLOW 0x08
#define FE_INEXACT 0x10
#define FE_ALL_EXCEPT 0x1f
#define FE_UPWARD 0x400000
#define FE_DOWNWARD 0x800000
#define FE_TOWARDZERO 0xc00000
typedef unsigned int fexcept_t;
typedef struct { unsigned int __fpcr, __fpsr; } fenv_t;
#else
#define FE_INVALID 0x01
#define FE_DIVBYZERO 0x04
#define FE_OVERFLOW 0x08
#define FE_UNDERFLOW 0x10
#define FE_INEXACT 0x20
#define FE_ALL_EXCEPT 0x3d
#define FE_DOWNWARD 0x400
#define FE_UPWARD 0x800
#define FE_TOWARDZERO 0xc00
typedef unsigned short fexcept_t;
typedef struct { unsigned int __words[8]; } fenv_t;
#endif
#define FE_DFL_ENV ((const fenv_t *)-1)
int feclearexcept(int), fegetexceptflag(fexcept_t *, int), feraiseexcept(int);
int fesetexceptflag(const fexcept_t *, int), fetestexcept(int), fegetround(void), fesetround(int);
int fegetenv(fenv_t *), feholdexcept(fenv_t *), fesetenv(const fenv_t *), feupdateenv(const fenv_t *);
