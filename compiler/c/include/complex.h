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
  double x = creal(z), y = cimag(z), m = exp(x);
  if (isfinite(y))
    return __builtin_complex(y == 0 ? m : m * cos(y), y == 0 ? y : m * sin(y));
  return __builtin_complex(isinf(x) ? m : y - y, isinf(x) && x < 0 ? copysign(0, y) : y - y);
}
static inline double _Complex clog(double _Complex z) {
  return __builtin_complex(log(cabs(z)), carg(z));
}
static inline double _Complex csqrt(double _Complex z) {
  double x = creal(z), y = cimag(z), m = cabs(z);
  if (isinf(y))
    return __builtin_complex((double)INFINITY, y);
  if (isinf(x)) {
    double small = isnan(y) ? y : 0;
    return x > 0 ? __builtin_complex(x, copysign(small, y))
                 : __builtin_complex(small, copysign((double)INFINITY, y));
  }
  double more = sqrt(m / 2 + fabs(x) / 2), less = more == 0 ? 0 : fabs(y) / (2 * more);
  return x < 0 ? __builtin_complex(less, copysign(more, y)) : __builtin_complex(more, copysign(less, y));
}
static inline double _Complex cpow(double _Complex x, double _Complex y) {
  double _Complex l = clog(x);
  if (x == 0)
    return y == 0 ? (double _Complex)1 : x;
  return cexp(cimag(y) == 0 ? __builtin_complex(creal(y) * creal(l), creal(y) * cimag(l)) : y * l);
}
static inline double _Complex csinh(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (y == 0 || (isinf(x) && !isfinite(y)))
    return __builtin_complex(sinh(x), y == 0 ? y : y - y);
  return __builtin_complex(x == 0 && !isfinite(y) ? x : sinh(x) * cos(y), cosh(x) * sin(y));
}
static inline double _Complex ccosh(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (y == 0 || (isinf(x) && !isfinite(y)))
    return __builtin_complex(cosh(x), y == 0 ? (signbit(x) ? -y : y) : y - y);
  return __builtin_complex(cosh(x) * cos(y), x == 0 && !isfinite(y) ? x : sinh(x) * sin(y));
}
static inline double _Complex ctanh(double _Complex z) {
  double x = creal(z), y = cimag(z), most = sizeof(double) == sizeof(float) ? 11 : 22;
  double s = sin(y), c = cos(y);
  if (fabs(x) > most && (isinf(x) || isfinite(y)))
    return __builtin_complex(copysign(1, x), isfinite(y) ? 4 * s * c * exp(-2 * fabs(x)) : copysign(0, y));
  double h = sinh(x), d = h * h + c * c;
  return __builtin_complex(x == 0 ? x : h * cosh(x) / d, y == 0 ? y : s * c / d);
}
static inline double _Complex csin(double _Complex z) {
  double _Complex w = csinh(__builtin_complex(-cimag(z), creal(z)));
  return __builtin_complex(cimag(w), -creal(w));
}
static inline double _Complex ccos(double _Complex z) {
  return ccosh(__builtin_complex(-cimag(z), creal(z)));
}
static inline double _Complex ctan(double _Complex z) {
  double _Complex w = ctanh(__builtin_complex(-cimag(z), creal(z)));
  return __builtin_complex(cimag(w), -creal(w));
}
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
  float x = crealf(z), y = cimagf(z), m = expf(x);
  if (isfinite(y))
    return __builtin_complex(y == 0 ? m : m * cosf(y), y == 0 ? y : m * sinf(y));
  return __builtin_complex(isinf(x) ? m : y - y, isinf(x) && x < 0 ? copysignf(0, y) : y - y);
}
static inline float _Complex clogf(float _Complex z) {
  return __builtin_complex(logf(cabsf(z)), cargf(z));
}
static inline float _Complex csqrtf(float _Complex z) {
  float x = crealf(z), y = cimagf(z), m = cabsf(z);
  if (isinf(y))
    return __builtin_complex((float)INFINITY, y);
  if (isinf(x)) {
    float small = isnan(y) ? y : 0;
    return x > 0 ? __builtin_complex(x, copysignf(small, y))
                 : __builtin_complex(small, copysignf((float)INFINITY, y));
  }
  float more = sqrtf(m / 2 + fabsf(x) / 2), less = more == 0 ? 0 : fabsf(y) / (2 * more);
  return x < 0 ? __builtin_complex(less, copysignf(more, y)) : __builtin_complex(more, copysignf(less, y));
}
static inline float _Complex cpowf(float _Complex x, float _Complex y) {
  float _Complex l = clogf(x);
  if (x == 0)
    return y == 0 ? (float _Complex)1 : x;
  return cexpf(cimagf(y) == 0 ? __builtin_complex(crealf(y) * crealf(l), crealf(y) * cimagf(l)) : y * l);
}
static inline float _Complex csinhf(float _Complex z) {
  float x = crealf(z), y = cimagf(z);
  if (y == 0 || (isinf(x) && !isfinite(y)))
    return __builtin_complex(sinhf(x), y == 0 ? y : y - y);
  return __builtin_complex(x == 0 && !isfinite(y) ? x : sinhf(x) * cosf(y), coshf(x) * sinf(y));
}
static inline float _Complex ccoshf(float _Complex z) {
  float x = crealf(z), y = cimagf(z);
  if (y == 0 || (isinf(x) && !isfinite(y)))
    return __builtin_complex(coshf(x), y == 0 ? (signbit(x) ? -y : y) : y - y);
  return __builtin_complex(coshf(x) * cosf(y), x == 0 && !isfinite(y) ? x : sinhf(x) * sinf(y));
}
static inline float _Complex ctanhf(float _Complex z) {
  float x = crealf(z), y = cimagf(z), most = sizeof(float) == sizeof(float) ? 11 : 22;
  float s = sinf(y), c = cosf(y);
  if (fabsf(x) > most && (isinf(x) || isfinite(y)))
    return __builtin_complex(copysignf(1, x), isfinite(y) ? 4 * s * c * expf(-2 * fabsf(x)) : copysignf(0, y));
  float h = sinhf(x), d = h * h + c * c;
  return __builtin_complex(x == 0 ? x : h * coshf(x) / d, y == 0 ? y : s * c / d);
}
static inline float _Complex csinf(float _Complex z) {
  float _Complex w = csinhf(__builtin_complex(-cimagf(z), crealf(z)));
  return __builtin_complex(cimagf(w), -crealf(w));
}
static inline float _Complex ccosf(float _Complex z) {
  return ccoshf(__builtin_complex(-cimagf(z), crealf(z)));
}
static inline float _Complex ctanf(float _Complex z) {
  float _Complex w = ctanhf(__builtin_complex(-cimagf(z), crealf(z)));
  return __builtin_complex(cimagf(w), -crealf(w));
}
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
  long double x = creall(z), y = cimagl(z), m = expl(x);
  if (isfinite(y))
    return __builtin_complex(y == 0 ? m : m * cosl(y), y == 0 ? y : m * sinl(y));
  return __builtin_complex(isinf(x) ? m : y - y, isinf(x) && x < 0 ? copysignl(0, y) : y - y);
}
static inline long double _Complex clogl(long double _Complex z) {
  return __builtin_complex(logl(cabsl(z)), cargl(z));
}
static inline long double _Complex csqrtl(long double _Complex z) {
  long double x = creall(z), y = cimagl(z), m = cabsl(z);
  if (isinf(y))
    return __builtin_complex((long double)INFINITY, y);
  if (isinf(x)) {
    long double small = isnan(y) ? y : 0;
    return x > 0 ? __builtin_complex(x, copysignl(small, y))
                 : __builtin_complex(small, copysignl((long double)INFINITY, y));
  }
  long double more = sqrtl(m / 2 + fabsl(x) / 2), less = more == 0 ? 0 : fabsl(y) / (2 * more);
  return x < 0 ? __builtin_complex(less, copysignl(more, y)) : __builtin_complex(more, copysignl(less, y));
}
static inline long double _Complex cpowl(long double _Complex x, long double _Complex y) {
  long double _Complex l = clogl(x);
  if (x == 0)
    return y == 0 ? (long double _Complex)1 : x;
  return cexpl(cimagl(y) == 0 ? __builtin_complex(creall(y) * creall(l), creall(y) * cimagl(l)) : y * l);
}
static inline long double _Complex csinhl(long double _Complex z) {
  long double x = creall(z), y = cimagl(z);
  if (y == 0 || (isinf(x) && !isfinite(y)))
    return __builtin_complex(sinhl(x), y == 0 ? y : y - y);
  return __builtin_complex(x == 0 && !isfinite(y) ? x : sinhl(x) * cosl(y), coshl(x) * sinl(y));
}
static inline long double _Complex ccoshl(long double _Complex z) {
  long double x = creall(z), y = cimagl(z);
  if (y == 0 || (isinf(x) && !isfinite(y)))
    return __builtin_complex(coshl(x), y == 0 ? (signbit(x) ? -y : y) : y - y);
  return __builtin_complex(coshl(x) * cosl(y), x == 0 && !isfinite(y) ? x : sinhl(x) * sinl(y));
}
static inline long double _Complex ctanhl(long double _Complex z) {
  long double x = creall(z), y = cimagl(z), most = sizeof(long double) == sizeof(float) ? 11 : 22;
  long double s = sinl(y), c = cosl(y);
  if (fabsl(x) > most && (isinf(x) || isfinite(y)))
    return __builtin_complex(copysignl(1, x), isfinite(y) ? 4 * s * c * expl(-2 * fabsl(x)) : copysignl(0, y));
  long double h = sinhl(x), d = h * h + c * c;
  return __builtin_complex(x == 0 ? x : h * coshl(x) / d, y == 0 ? y : s * c / d);
}
static inline long double _Complex csinl(long double _Complex z) {
  long double _Complex w = csinhl(__builtin_complex(-cimagl(z), creall(z)));
  return __builtin_complex(cimagl(w), -creall(w));
}
static inline long double _Complex ccosl(long double _Complex z) {
  return ccoshl(__builtin_complex(-cimagl(z), creall(z)));
}
static inline long double _Complex ctanl(long double _Complex z) {
  long double _Complex w = ctanhl(__builtin_complex(-cimagl(z), creall(z)));
  return __builtin_complex(cimagl(w), -creall(w));
}
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
