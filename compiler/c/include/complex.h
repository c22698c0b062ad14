/* Complex arithmetic (C11 7.3). Functions beyond the parts are C, so that device code has them too: each
   under a name of its own, since libm has the standard one. */
#pragma once
#include <math.h>

#define complex _Complex
#define _Complex_I (__builtin_complex(0.0f, 1.0f))
#define I _Complex_I
#define CMPLX(x, y) (__builtin_complex((double)(x), (double)(y)))
#define CMPLXF(x, y) (__builtin_complex((float)(x), (float)(y)))
#define CMPLXL(x, y) (__builtin_complex((long double)(x), (long double)(y)))

double creal(double _Complex), cimag(double _Complex);
float crealf(float _Complex), cimagf(float _Complex);
long double creall(long double _Complex), cimagl(long double _Complex);
double _Complex conj(double _Complex);
float _Complex conjf(float _Complex);
long double _Complex conjl(long double _Complex);

#define cabs __accopt_cabs
#define carg __accopt_carg
#define cproj __accopt_cproj
#define cexp __accopt_cexp
#define clog __accopt_clog
#define csqrt __accopt_csqrt
#define cpow __accopt_cpow
#define csinh __accopt_csinh
#define ccosh __accopt_ccosh
#define ctanh __accopt_ctanh
#define csin __accopt_csin
#define ccos __accopt_ccos
#define ctan __accopt_ctan
#define casinh __accopt_casinh
#define cacosh __accopt_cacosh
#define catanh __accopt_catanh
#define casin __accopt_casin
#define cacos __accopt_cacos
#define catan __accopt_catan
/* double */
static inline double cabs(double _Complex z) { return hypot(creal(z), cimag(z)); }
static inline double carg(double _Complex z) { return atan2(cimag(z), creal(z)); }
static inline double _Complex cproj(double _Complex z) {
  if (isinf(creal(z)) || isinf(cimag(z)))
    return __builtin_complex((double)INFINITY, copysign(0, cimag(z)));
  return z;
}
static inline double _Complex cexp(double _Complex z) {
  double m = exp(creal(z));
  return __builtin_complex(m * cos(cimag(z)), m * sin(cimag(z)));
}
static inline double _Complex clog(double _Complex z) {
  return __builtin_complex(log(cabs(z)), carg(z));
}
static inline double _Complex csqrt(double _Complex z) {
  double m = cabs(z), re = sqrt((m + fabs(creal(z))) / 2);
  double im = re == 0 ? 0 : cimag(z) / (2 * re);
  if (creal(z) >= 0)
    return __builtin_complex(re, im);
  return __builtin_complex(fabs(im), copysign(re, cimag(z)));
}
static inline double _Complex cpow(double _Complex x, double _Complex y) {
  return x == 0 ? (y == 0 ? (double _Complex)1 : x) : cexp(y * clog(x));
}
static inline double _Complex csinh(double _Complex z) {
  return __builtin_complex(sinh(creal(z)) * cos(cimag(z)), cosh(creal(z)) * sin(cimag(z)));
}
static inline double _Complex ccosh(double _Complex z) {
  return __builtin_complex(cosh(creal(z)) * cos(cimag(z)), sinh(creal(z)) * sin(cimag(z)));
}
static inline double _Complex ctanh(double _Complex z) { return csinh(z) / ccosh(z); }
static inline double _Complex csin(double _Complex z) {
  return __builtin_complex(sin(creal(z)) * cosh(cimag(z)), cos(creal(z)) * sinh(cimag(z)));
}
static inline double _Complex ccos(double _Complex z) {
  return __builtin_complex(cos(creal(z)) * cosh(cimag(z)), -sin(creal(z)) * sinh(cimag(z)));
}
static inline double _Complex ctan(double _Complex z) { return csin(z) / ccos(z); }
static inline double _Complex casinh(double _Complex z) { return clog(z + csqrt(z * z + 1)); }
static inline double _Complex cacosh(double _Complex z) {
  return clog(z + csqrt(z + 1) * csqrt(z - 1));
}
static inline double _Complex catanh(double _Complex z) { return (clog(1 + z) - clog(1 - z)) / 2; }
static inline double _Complex casin(double _Complex z) {
  double _Complex w = casinh(__builtin_complex(-cimag(z), creal(z)));
  return __builtin_complex(cimag(w), -creal(w));
}
static inline double _Complex cacos(double _Complex z) {
  return (double)1.5707963267948966192L - casin(z);
}
static inline double _Complex catan(double _Complex z) {
  double _Complex w = catanh(__builtin_complex(-cimag(z), creal(z)));
  return __builtin_complex(cimag(w), -creal(w));
}

#define cabsf __accopt_cabsf
#define cargf __accopt_cargf
#define cprojf __accopt_cprojf
#define cexpf __accopt_cexpf
#define clogf __accopt_clogf
#define csqrtf __accopt_csqrtf
#define cpowf __accopt_cpowf
#define csinhf __accopt_csinhf
#define ccoshf __accopt_ccoshf
#define ctanhf __accopt_ctanhf
#define csinf __accopt_csinf
#define ccosf __accopt_ccosf
#define ctanf __accopt_ctanf
#define casinhf __accopt_casinhf
#define cacoshf __accopt_cacoshf
#define catanhf __accopt_catanhf
#define casinf __accopt_casinf
#define cacosf __accopt_cacosf
#define catanf __accopt_catanf
/* float */
static inline float cabsf(float _Complex z) { return hypotf(crealf(z), cimagf(z)); }
static inline float cargf(float _Complex z) { return atan2f(cimagf(z), crealf(z)); }
static inline float _Complex cprojf(float _Complex z) {
  if (isinf(crealf(z)) || isinf(cimagf(z)))
    return __builtin_complex((float)INFINITY, copysignf(0, cimagf(z)));
  return z;
}
static inline float _Complex cexpf(float _Complex z) {
  float m = expf(crealf(z));
  return __builtin_complex(m * cosf(cimagf(z)), m * sinf(cimagf(z)));
}
static inline float _Complex clogf(float _Complex z) {
  return __builtin_complex(logf(cabsf(z)), cargf(z));
}
static inline float _Complex csqrtf(float _Complex z) {
  float m = cabsf(z), re = sqrtf((m + fabsf(crealf(z))) / 2);
  float im = re == 0 ? 0 : cimagf(z) / (2 * re);
  if (crealf(z) >= 0)
    return __builtin_complex(re, im);
  return __builtin_complex(fabsf(im), copysignf(re, cimagf(z)));
}
static inline float _Complex cpowf(float _Complex x, float _Complex y) {
  return x == 0 ? (y == 0 ? (float _Complex)1 : x) : cexpf(y * clogf(x));
}
static inline float _Complex csinhf(float _Complex z) {
  return __builtin_complex(sinhf(crealf(z)) * cosf(cimagf(z)), coshf(crealf(z)) * sinf(cimagf(z)));
}
static inline float _Complex ccoshf(float _Complex z) {
  return __builtin_complex(coshf(crealf(z)) * cosf(cimagf(z)), sinhf(crealf(z)) * sinf(cimagf(z)));
}
static inline float _Complex ctanhf(float _Complex z) { return csinhf(z) / ccoshf(z); }
static inline float _Complex csinf(float _Complex z) {
  return __builtin_complex(sinf(crealf(z)) * coshf(cimagf(z)), cosf(crealf(z)) * sinhf(cimagf(z)));
}
static inline float _Complex ccosf(float _Complex z) {
  return __builtin_complex(cosf(crealf(z)) * coshf(cimagf(z)), -sinf(crealf(z)) * sinhf(cimagf(z)));
}
static inline float _Complex ctanf(float _Complex z) { return csinf(z) / ccosf(z); }
static inline float _Complex casinhf(float _Complex z) { return clogf(z + csqrtf(z * z + 1)); }
static inline float _Complex cacoshf(float _Complex z) {
  return clogf(z + csqrtf(z + 1) * csqrtf(z - 1));
}
static inline float _Complex catanhf(float _Complex z) { return (clogf(1 + z) - clogf(1 - z)) / 2; }
static inline float _Complex casinf(float _Complex z) {
  float _Complex w = casinhf(__builtin_complex(-cimagf(z), crealf(z)));
  return __builtin_complex(cimagf(w), -crealf(w));
}
static inline float _Complex cacosf(float _Complex z) {
  return (float)1.5707963267948966192L - casinf(z);
}
static inline float _Complex catanf(float _Complex z) {
  float _Complex w = catanhf(__builtin_complex(-cimagf(z), crealf(z)));
  return __builtin_complex(cimagf(w), -crealf(w));
}

#define cabsl __accopt_cabsl
#define cargl __accopt_cargl
#define cprojl __accopt_cprojl
#define cexpl __accopt_cexpl
#define clogl __accopt_clogl
#define csqrtl __accopt_csqrtl
#define cpowl __accopt_cpowl
#define csinhl __accopt_csinhl
#define ccoshl __accopt_ccoshl
#define ctanhl __accopt_ctanhl
#define csinl __accopt_csinl
#define ccosl __accopt_ccosl
#define ctanl __accopt_ctanl
#define casinhl __accopt_casinhl
#define cacoshl __accopt_cacoshl
#define catanhl __accopt_catanhl
#define casinl __accopt_casinl
#define cacosl __accopt_cacosl
#define catanl __accopt_catanl
/* long double */
static inline long double cabsl(long double _Complex z) { return hypotl(creall(z), cimagl(z)); }
static inline long double cargl(long double _Complex z) { return atan2l(cimagl(z), creall(z)); }
static inline long double _Complex cprojl(long double _Complex z) {
  if (isinf(creall(z)) || isinf(cimagl(z)))
    return __builtin_complex((long double)INFINITY, copysignl(0, cimagl(z)));
  return z;
}
static inline long double _Complex cexpl(long double _Complex z) {
  long double m = expl(creall(z));
  return __builtin_complex(m * cosl(cimagl(z)), m * sinl(cimagl(z)));
}
static inline long double _Complex clogl(long double _Complex z) {
  return __builtin_complex(logl(cabsl(z)), cargl(z));
}
static inline long double _Complex csqrtl(long double _Complex z) {
  long double m = cabsl(z), re = sqrtl((m + fabsl(creall(z))) / 2);
  long double im = re == 0 ? 0 : cimagl(z) / (2 * re);
  if (creall(z) >= 0)
    return __builtin_complex(re, im);
  return __builtin_complex(fabsl(im), copysignl(re, cimagl(z)));
}
static inline long double _Complex cpowl(long double _Complex x, long double _Complex y) {
  return x == 0 ? (y == 0 ? (long double _Complex)1 : x) : cexpl(y * clogl(x));
}
static inline long double _Complex csinhl(long double _Complex z) {
  return __builtin_complex(sinhl(creall(z)) * cosl(cimagl(z)), coshl(creall(z)) * sinl(cimagl(z)));
}
static inline long double _Complex ccoshl(long double _Complex z) {
  return __builtin_complex(coshl(creall(z)) * cosl(cimagl(z)), sinhl(creall(z)) * sinl(cimagl(z)));
}
static inline long double _Complex ctanhl(long double _Complex z) { return csinhl(z) / ccoshl(z); }
static inline long double _Complex csinl(long double _Complex z) {
  return __builtin_complex(sinl(creall(z)) * coshl(cimagl(z)), cosl(creall(z)) * sinhl(cimagl(z)));
}
static inline long double _Complex ccosl(long double _Complex z) {
  return __builtin_complex(cosl(creall(z)) * coshl(cimagl(z)), -sinl(creall(z)) * sinhl(cimagl(z)));
}
static inline long double _Complex ctanl(long double _Complex z) { return csinl(z) / ccosl(z); }
static inline long double _Complex casinhl(long double _Complex z) { return clogl(z + csqrtl(z * z + 1)); }
static inline long double _Complex cacoshl(long double _Complex z) {
  return clogl(z + csqrtl(z + 1) * csqrtl(z - 1));
}
static inline long double _Complex catanhl(long double _Complex z) { return (clogl(1 + z) - clogl(1 - z)) / 2; }
static inline long double _Complex casinl(long double _Complex z) {
  long double _Complex w = casinhl(__builtin_complex(-cimagl(z), creall(z)));
  return __builtin_complex(cimagl(w), -creall(w));
}
static inline long double _Complex cacosl(long double _Complex z) {
  return (long double)1.5707963267948966192L - casinl(z);
}
static inline long double _Complex catanl(long double _Complex z) {
  long double _Complex w = catanhl(__builtin_complex(-cimagl(z), creall(z)));
  return __builtin_complex(cimagl(w), -creall(w));
}
