/* Names that are numbers after underscores, which are ordinary names, wherever C has names. */
#include "check.h"
#define _7 3

struct _1 {
    int _0, _2;
    struct {
        float _12;
    } _0_1;
};

static int _3[8], _4;
#pragma acc declare create(_3)

#pragma acc routine seq
static int _5(int _0, int _1_1)
{
    int _9 = _0;
    for (int _2 = 0; _2 < _1_1; ++_2) {
        if (_2 == 5)
            goto _8;
        _9 += _2;
    }
_8:
    return _9;
}

static int _6(int _0)
{
    int _1 = 0;
    while (_0 > 0 && (_1 += _0))
        _0--;
    return _0 ? _1 : _1 + (_0 || _1);
}

int main(void)
{
    int _0[8] = {0}, _1 = 0, _2 = 5, _0_1 = 100, _12_0_3 = 0;
    struct _1 _10 = {1, 2, {3}}, _11[4] = {0};
    int *_13 = malloc(8 * sizeof *_13);
#pragma acc parallel loop copy(_0, _10, _11) copyout(_13[0:8]) reduction(+:_1) firstprivate(_2) private(_12_0_3)
    for (int _3_1 = 0; _3_1 < 8; ++_3_1) {
        int _20 = _3_1;
        _12_0_3 = _20 * _2;
        _0[_20] = _12_0_3;
        _1 += _5(_20, _20);
        _13[_20] = _10._2 + (int)_10._0_1._12 + _7;
        if (_20 < 4)
            _11[_20]._0 = _20, _11[_20]._0_1._12 = _20;
    }
#pragma acc parallel loop gang reduction(max:_0_1)
    for (int _0 = 0; _0 < 4; ++_0)
#pragma acc loop vector reduction(max:_0_1)
        for (int _1 = 0; _1 < 64; _1 += 3)
            _0_1 = _0_1 > _0 * _1 ? _0_1 : _0 * _1;
#pragma acc parallel loop collapse(2) copy(_0)
    for (int _1 = 0; _1 < 2; _1++)
        for (int _2 = 0; _2 < 4; _2++)
            _0[_1 * 4 + _2] += 1;
#pragma acc kernels copy(_0) copyout(_4)
    {
        for (int _21 = 0; _21 < 8; _21++)
            _0[_21] += _2;
        _4 = _2;
    }
#pragma acc serial loop
    for (int _0 = 7; _0 >= 0; _0--)
        _3[_0] = _0;
#pragma acc update self(_3)
    int sum = 0;
    for (int _14 = 0; _14 < 8; _14++)
        sum += _3[_14];
    CHECK_EQ(sum, 28);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(_0[i], i * 5 + 1 + 5);
        CHECK_EQ(_13[i], 8);
    }
    CHECK_EQ(_1, 28 + 0 + 0 + 1 + 3 + 6 + 10 + 10 + 10);
    CHECK_EQ(_0_1, 189);
    CHECK_EQ(_4, 5);
    CHECK_EQ(_11[3]._0, 3);
    CHECK_EQ(_6(3), 7);
    free(_13);
    return report();
}
