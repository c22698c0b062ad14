/* Variable arguments (C11 7.16). */
#pragma once
typedef __builtin_va_list va_list, __gnuc_va_list;
#define va_start(list, ...) __builtin_va_start(list __VA_OPT__(,) __VA_ARGS__)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_end(list) __builtin_va_end(list)
#define va_copy(to, from) __builtin_va_copy(to, from)
