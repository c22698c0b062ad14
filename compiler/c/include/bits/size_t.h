/* size_t (C11 7.19). */
#pragma once
#include <bits/null.h>
typedef unsigned long size_t;
