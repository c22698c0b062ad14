/* NULL (C11 7.19). */
#pragma once
#undef NULL
#define NULL ((void *)0)
