/* Mathematical functions of device code, in nvc's name for them. */
#pragma once
#include <math.h>
