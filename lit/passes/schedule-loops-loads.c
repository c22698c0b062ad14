// RUN: accopt %s --emit=scheduled | filecheck %s

// A value that is loaded between two loops: if the inner one may change it, the lanes of one gang share a row
// and wait for each other; otherwise rows and columns have their own dimensions of the grid.
// CHECK-LABEL: @changed
// CHECK:         } attributes {accx.schedule = #accx.schedule<covers>, accx.why = "outermost parallel loop
// CHECK-LABEL: @may_be_changed
// CHECK:         } attributes {accx.schedule = #accx.schedule<covers>, accx.why = "outermost parallel loop
// CHECK-LABEL: @of_another_array
// CHECK:         } attributes {accx.schedule = #accx.schedule<gang_dim = 2
// CHECK-LABEL: @before_the_first
// CHECK:         } attributes {accx.schedule = #accx.schedule<gang_dim = 2
// CHECK-LABEL: @after_the_last
// CHECK:         } attributes {accx.schedule = #accx.schedule<gang_dim = 2
// CHECK-LABEL: @one_of_the_last
// CHECK:         } attributes {accx.schedule = #accx.schedule<covers>, accx.why = "outermost parallel loop
// CHECK-LABEL: @other_member
// CHECK:         } attributes {accx.schedule = #accx.schedule<gang_dim = 2
#define NEST(name, first, last, value, ...)                            \
  void name(int n, float(*restrict a)[4096], struct p *s, __VA_ARGS__) \
  {                                                                    \
    _Pragma("acc parallel loop present(a[0:n], b[0:n], s)")            \
    for (int i = 0; i < n; i++) {                                      \
      float w = value;                                                 \
      _Pragma("acc loop")                                              \
      for (int j = first; j < last; j++)                               \
        TARGET = w * j;                                                \
    }                                                                  \
  }
struct p {
  float x, y;
};
#define TARGET a[i][j]
NEST(changed, 0, 4096, a[i][7], float *restrict b)
#undef TARGET
#define TARGET c[i * 4096 + j]
NEST(may_be_changed, 0, 4096, b[i], float *b, float *c)
#undef TARGET
#define TARGET a[i][j]
NEST(of_another_array, 0, 4096, b[i], float *restrict b)
NEST(before_the_first, 1, 4096, a[i][0], float *restrict b)
NEST(after_the_last, 0, 4095, a[i][4095], float *restrict b)
NEST(one_of_the_last, 0, 4095, a[i][4094], float *restrict b)
#undef TARGET
#define TARGET s[i * 4096 + j].y
NEST(other_member, 0, 4096, s[i * 4096].x, float *restrict b)
