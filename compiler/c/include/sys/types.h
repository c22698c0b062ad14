/* Types of POSIX. */
#pragma once
#include <bits/posix_types.h>
#include <bits/size_t.h>
#include <bits/time_types.h>
typedef long clock_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char u_int8_t, u_char;
typedef unsigned short u_int16_t, u_short;
typedef unsigned int u_int32_t, u_int, uint;
typedef unsigned long u_int64_t, u_long, ulong;
typedef unsigned short ushort;
