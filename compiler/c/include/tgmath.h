/* C11 7.25: type-generic mathematics. */
#ifndef _TGMATH_H
#define _TGMATH_H
#include <complex.h>
#include <math.h>

/* A zero of the type for which an argument selects the function; double for integers. */
#define __tg_of(x) \
  _Generic((x), float: 0.0f, long double: 0.0L, float _Complex: (float _Complex)0, \
           double _Complex: (double _Complex)0, long double _Complex: (long double _Complex)0, default: 0.0)
#define __tg_real(t, name) _Generic((t), float: name##f, long double: name##l, default: name)
#define __tg_any(t, name, c) \
  _Generic((t), float: name##f, long double: name##l, float _Complex: c##f, double _Complex: c, \
           long double _Complex: c##l, default: name)
#define __tg_complex(t, name) \
  _Generic((t), float: name##f, long double: name##l, float _Complex: name##f, long double _Complex: name##l, default: name)

#define acos(x) __tg_any(__tg_of(x), acos, cacos)(x)
#define asin(x) __tg_any(__tg_of(x), asin, casin)(x)
#define atan(x) __tg_any(__tg_of(x), atan, catan)(x)
#define acosh(x) __tg_any(__tg_of(x), acosh, cacosh)(x)
#define asinh(x) __tg_any(__tg_of(x), asinh, casinh)(x)
#define atanh(x) __tg_any(__tg_of(x), atanh, catanh)(x)
#define cos(x) __tg_any(__tg_of(x), cos, ccos)(x)
#define sin(x) __tg_any(__tg_of(x), sin, csin)(x)
#define tan(x) __tg_any(__tg_of(x), tan, ctan)(x)
#define cosh(x) __tg_any(__tg_of(x), cosh, ccosh)(x)
#define sinh(x) __tg_any(__tg_of(x), sinh, csinh)(x)
#define tanh(x) __tg_any(__tg_of(x), tanh, ctanh)(x)
#define exp(x) __tg_any(__tg_of(x), exp, cexp)(x)
#define log(x) __tg_any(__tg_of(x), log, clog)(x)
#define sqrt(x) __tg_any(__tg_of(x), sqrt, csqrt)(x)
#define fabs(x) __tg_any(__tg_of(x), fabs, cabs)(x)
#define pow(x, y) __tg_any(__tg_of(x) + __tg_of(y), pow, cpow)(x, y)
#define cbrt(x) __tg_real(__tg_of(x), cbrt)(x)
#define ceil(x) __tg_real(__tg_of(x), ceil)(x)
#define erf(x) __tg_real(__tg_of(x), erf)(x)
#define erfc(x) __tg_real(__tg_of(x), erfc)(x)
#define exp2(x) __tg_real(__tg_of(x), exp2)(x)
#define expm1(x) __tg_real(__tg_of(x), expm1)(x)
#define floor(x) __tg_real(__tg_of(x), floor)(x)
#define lgamma(x) __tg_real(__tg_of(x), lgamma)(x)
#define log10(x) __tg_real(__tg_of(x), log10)(x)
#define log1p(x) __tg_real(__tg_of(x), log1p)(x)
#define log2(x) __tg_real(__tg_of(x), log2)(x)
#define logb(x) __tg_real(__tg_of(x), logb)(x)
#define nearbyint(x) __tg_real(__tg_of(x), nearbyint)(x)
#define rint(x) __tg_real(__tg_of(x), rint)(x)
#define round(x) __tg_real(__tg_of(x), round)(x)
#define tgamma(x) __tg_real(__tg_of(x), tgamma)(x)
#define trunc(x) __tg_real(__tg_of(x), trunc)(x)
#define ilogb(x) __tg_real(__tg_of(x), ilogb)(x)
#define llrint(x) __tg_real(__tg_of(x), llrint)(x)
#define llround(x) __tg_real(__tg_of(x), llround)(x)
#define lrint(x) __tg_real(__tg_of(x), lrint)(x)
#define lround(x) __tg_real(__tg_of(x), lround)(x)
#define atan2(x, y) __tg_real(__tg_of(x) + __tg_of(y), atan2)(x, y)
#define copysign(x, y) __tg_real(__tg_of(x) + __tg_of(y), copysign)(x, y)
#define fdim(x, y) __tg_real(__tg_of(x) + __tg_of(y), fdim)(x, y)
#define fmax(x, y) __tg_real(__tg_of(x) + __tg_of(y), fmax)(x, y)
#define fmin(x, y) __tg_real(__tg_of(x) + __tg_of(y), fmin)(x, y)
#define fmod(x, y) __tg_real(__tg_of(x) + __tg_of(y), fmod)(x, y)
#define hypot(x, y) __tg_real(__tg_of(x) + __tg_of(y), hypot)(x, y)
#define nextafter(x, y) __tg_real(__tg_of(x) + __tg_of(y), nextafter)(x, y)
#define remainder(x, y) __tg_real(__tg_of(x) + __tg_of(y), remainder)(x, y)
#define fma(x, y, z) __tg_real(__tg_of(x) + __tg_of(y) + __tg_of(z), fma)(x, y, z)
#define remquo(x, y, q) __tg_real(__tg_of(x) + __tg_of(y), remquo)(x, y, q)
#define frexp(x, n) __tg_real(__tg_of(x), frexp)(x, n)
#define ldexp(x, n) __tg_real(__tg_of(x), ldexp)(x, n)
#define scalbln(x, n) __tg_real(__tg_of(x), scalbln)(x, n)
#define scalbn(x, n) __tg_real(__tg_of(x), scalbn)(x, n)
#define nexttoward(x, n) __tg_real(__tg_of(x), nexttoward)(x, n)
#undef carg
#undef cimag
#undef conj
#undef cproj
#undef creal
#define carg(z) __tg_complex(__tg_of(z), carg)(z)
#define cimag(z) __tg_complex(__tg_of(z), cimag)(z)
#define conj(z) __tg_complex(__tg_of(z), conj)(z)
#define cproj(z) __tg_complex(__tg_of(z), cproj)(z)
#define creal(z) __tg_complex(__tg_of(z), creal)(z)
#endif
