/* Limits by their old names (System V). */
#pragma once
#include <float.h>
#include <limits.h>
#define MAXSHORT SHRT_MAX
#define MINSHORT SHRT_MIN
#define MAXINT INT_MAX
#define MININT INT_MIN
#define MAXLONG LONG_MAX
#define MINLONG LONG_MIN
#define MAXDOUBLE DBL_MAX
#define MINDOUBLE DBL_MIN
#define MAXFLOAT 3.40282346638528859812e+38F
#define MINFLOAT FLT_MIN
