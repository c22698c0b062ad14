/* Common definitions (C11 7.19). */
#pragma once
#include <bits/size_t.h>
typedef long ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef unsigned int wint_t;
typedef struct { long long __ll; long double __ld; } max_align_t;
#if __STDC_VERSION__ >= 202311L
typedef typeof(nullptr) nullptr_t;
#define unreachable() __builtin_unreachable()
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
