/* Diagnostics (C11 7.2). Each inclusion uses the current NDEBUG, so this file has no #pragma once. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif
#undef static_assert
#define static_assert _Static_assert
#ifndef __ACCOPT_ASSERT_FAIL
#define __ACCOPT_ASSERT_FAIL 1
_Noreturn void __assert_fail(const char *, const char *, unsigned int, const char *);
#endif
