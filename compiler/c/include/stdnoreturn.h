/* _Noreturn (C11 7.23). */
#pragma once
#define noreturn _Noreturn
