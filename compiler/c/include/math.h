/* Mathematics (C11 7.12), with the POSIX constants and the common BSD and GNU functions. */
#pragma once
typedef float float_t;
typedef double double_t;
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
#define HUGE_VALL (__builtin_huge_vall())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define MATH_ERRNO 1
#define MATH_ERREXCEPT 2
#define math_errhandling (MATH_ERRNO | MATH_ERREXCEPT)
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#ifdef __aarch64__
#define FP_ILOGB0 (-2147483647)
#define FP_ILOGBNAN 2147483647
#else
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)
#endif
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define MAXFLOAT 3.40282346638528859812e+38F

/* The type-generic macros choose by the argument's size; each evaluates its argument once. */
#define __accopt_classify(name, x) \
  (sizeof(x) == sizeof(float) ? name##f(x) : sizeof(x) == sizeof(double) ? name(x) : name##l(x))
#define fpclassify(x) __accopt_classify(__fpclassify, x)
#define isnan(x) __accopt_classify(__isnan, x)
#define isinf(x) __accopt_classify(__isinf, x)
#define isfinite(x) __accopt_classify(__finite, x)
#define signbit(x) __accopt_classify(__signbit, x)
#define isnormal(x) (fpclassify(x) == FP_NORMAL)
#define isgreater(x, y) ((x) > (y))
#define isgreaterequal(x, y) ((x) >= (y))
#define isless(x, y) ((x) < (y))
#define islessequal(x, y) ((x) <= (y))
#define isunordered(x, y) (isnan(x) || isnan(y))
/* Unlike the others, this one evaluates its arguments twice. */
#define islessgreater(x, y) ((x) < (y) || (x) > (y))

double acos(double), asin(double), atan(double), cos(double), sin(double), tan(double),
  acosh(double), asinh(double), atanh(double), cosh(double), sinh(double), tanh(double),
  exp(double), exp2(double), expm1(double), log(double), log10(double), log1p(double),
  log2(double), logb(double), cbrt(double), fabs(double), sqrt(double), erf(double),
  erfc(double), lgamma(double), tgamma(double), ceil(double), floor(double), nearbyint(double),
  rint(double), round(double), trunc(double), atan2(double, double), pow(double, double),
  hypot(double, double), fmod(double, double), remainder(double, double), copysign(double,
  double), nextafter(double, double), fdim(double, double), fmax(double, double), fmin(double,
  double), ldexp(double, int), scalbn(double, int), scalbln(double, long), frexp(double, int *),
  modf(double, double *), fma(double, double, double), remquo(double, double, int *), nan(const
  char *), nexttoward(double, long double);
int ilogb(double);
long lrint(double), lround(double);
long long llrint(double), llround(double);
int __fpclassify(double), __signbit(double), __isinf(double), __isnan(double), __finite(double);
float acosf(float), asinf(float), atanf(float), cosf(float), sinf(float), tanf(float),
  acoshf(float), asinhf(float), atanhf(float), coshf(float), sinhf(float), tanhf(float),
  expf(float), exp2f(float), expm1f(float), logf(float), log10f(float), log1pf(float),
  log2f(float), logbf(float), cbrtf(float), fabsf(float), sqrtf(float), erff(float),
  erfcf(float), lgammaf(float), tgammaf(float), ceilf(float), floorf(float), nearbyintf(float),
  rintf(float), roundf(float), truncf(float), atan2f(float, float), powf(float, float),
  hypotf(float, float), fmodf(float, float), remainderf(float, float), copysignf(float, float),
  nextafterf(float, float), fdimf(float, float), fmaxf(float, float), fminf(float, float),
  ldexpf(float, int), scalbnf(float, int), scalblnf(float, long), frexpf(float, int *),
  modff(float, float *), fmaf(float, float, float), remquof(float, float, int *), nanf(const
  char *), nexttowardf(float, long double);
int ilogbf(float);
long lrintf(float), lroundf(float);
long long llrintf(float), llroundf(float);
int __fpclassifyf(float), __signbitf(float), __isinff(float), __isnanf(float), __finitef(float);
long double acosl(long double), asinl(long double), atanl(long double), cosl(long double),
  sinl(long double), tanl(long double), acoshl(long double), asinhl(long double), atanhl(long
  double), coshl(long double), sinhl(long double), tanhl(long double), expl(long double),
  exp2l(long double), expm1l(long double), logl(long double), log10l(long double), log1pl(long
  double), log2l(long double), logbl(long double), cbrtl(long double), fabsl(long double),
  sqrtl(long double), erfl(long double), erfcl(long double), lgammal(long double), tgammal(long
  double), ceill(long double), floorl(long double), nearbyintl(long double), rintl(long double),
  roundl(long double), truncl(long double), atan2l(long double, long double), powl(long double,
  long double), hypotl(long double, long double), fmodl(long double, long double),
  remainderl(long double, long double), copysignl(long double, long double), nextafterl(long
  double, long double), fdiml(long double, long double), fmaxl(long double, long double),
  fminl(long double, long double), ldexpl(long double, int), scalbnl(long double, int),
  scalblnl(long double, long), frexpl(long double, int *), modfl(long double, long double *),
  fmal(long double, long double, long double), remquol(long double, long double, int *),
  nanl(const char *), nexttowardl(long double, long double);
int ilogbl(long double);
long lrintl(long double), lroundl(long double);
long long llrintl(long double), llroundl(long double);
int __fpclassifyl(long double), __signbitl(long double), __isinfl(long double), __isnanl(long double), __finitel(long double);
double j0(double), j1(double), jn(int, double), y0(double), y1(double), yn(int, double);
float j0f(float), j1f(float), jnf(int, float), y0f(float), y1f(float), ynf(int, float);
double exp10(double), gamma(double), drem(double, double), significand(double);
float exp10f(float);
void sincos(double, double *, double *), sincosf(float, float *, float *);
double lgamma_r(double, int *);
extern int signgam;
int finite(double), finitef(float), isinff(float), isnanf(float);
