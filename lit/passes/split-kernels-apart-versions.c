// RUN: accopt %s --emit=data | filecheck %s
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARK

// Sums through pointers that may overlap: divided, with the terms inside, where they do not; no loop of that version is tested again.
// CHECK-LABEL: @chained
// CHECK:         %[[APART:.*]] = llvm.call @__accopt_spans_apart
// CHECK:         scf.if %[[APART]] {
// CHECK-NOT:       call @__accopt_spans_apart
// CHECK-NOT:       scf.if
// CHECK:           acc.parallel
// CHECK:             acc.loop {{.*}}control(%i
// CHECK:               scf.for %j
// CHECK:         accx.apart
// CHECK-NOT:       scf.if
// CHECK:           acc.parallel
// CHECK:             acc.loop {{.*}}control(%j
// CHECK:               scf.for %i
// CHECK:         } else {
// CHECK:           scf.for %i
// CHECK:         llvm.return
// REMARK:      divided, or put inside others, where 't', 'y', 'a', 'x' do not overlap (tested at launch), else as written
void chained(int n, int m, double *a, double *x, double *t, double *y)
{
#pragma acc kernels
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < m; j++)
      t[i] += a[i * m + j] * x[j];
    for (int j = 0; j < m; j++)
      y[j] += a[i * m + j] * t[i];
  }
}

// Pointers of the program, and an array that is known to be apart from all others.
// CHECK-LABEL: @variables
// CHECK:         llvm.call @__accopt_spans_apart
// CHECK:         scf.if
// CHECK:           acc.loop {{.*}}control(%j
// CHECK:             scf.for %i
// CHECK:         } else {
// CHECK:         llvm.return
// REMARK:      where 'out', 'in' do not overlap
double *in, *out;
static double apart[64];
void variables(int n)
{
#pragma acc kernels present(in[0:n], out[0:n], apart)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[j] += in[i] * apart[j] * i;
}

// `kernels loop`; around it, the host's loop keeps arrays on the device, as both versions map the same.
// CHECK-LABEL: @repeated
// CHECK:         acc.data
// CHECK:           scf.for %k
// CHECK:             llvm.call @__accopt_spans_apart
// CHECK:             scf.if
// CHECK:               acc.loop {{.*}}control(%i
// CHECK:               acc.loop {{.*}}control(%j
// CHECK:                 scf.for %i
// CHECK:             } else {
// CHECK:         llvm.return
// REMARK:      data region inferred around this loop: copy(t) copy(y)
void repeated(int n, int times, double *t, double *y)
{
  for (int k = 0; k < times; k++) {
#pragma acc kernels loop copy(t[0:n], y[0:n])
    for (int i = 0; i < n; i++) {
      t[i] += 1;
      for (int j = 0; j < n; j++)
        y[j] += t[i];
    }
  }
}

// Known to be apart; nothing gained; a call that may access anything; addresses of host and device.
// CHECK-LABEL: @known
// CHECK-NOT:     call @__accopt_spans_apart
// CHECK:         llvm.return
void known(int n, const double *restrict in, double *restrict out)
{
#pragma acc kernels present(in[0:n], out[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[j] += in[i] * i;
}

// CHECK-LABEL: @dependent
// CHECK-NOT:     call @__accopt_spans_apart
// CHECK:         llvm.return
void dependent(int n, const double *in, double *out)
{
#pragma acc kernels present(in[0:n], out[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[j] += in[i] * out[i];
}

#pragma acc routine seq
double anything(double *p);

// CHECK-LABEL: @calls
// CHECK-NOT:     call @__accopt_spans_apart
// CHECK:         llvm.return
void calls(int n, double *in, double *out)
{
#pragma acc kernels present(in[0:n], out[0:n])
  {
    out[0] = anything(in);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        out[j] += in[i] * i;
  }
}

// CHECK-LABEL: @mixed
// CHECK-NOT:     call @__accopt_spans_apart
// CHECK:         llvm.return
// REMARK:      loops stay as written, as 'out', 'in' may overlap: the host address of 'in' is not known
void mixed(int n, double *in, double *out)
{
#pragma acc kernels deviceptr(in) present(out[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[j] += in[i] * i;
}

// CHECK-LABEL: @unbounded
// CHECK-NOT:     call @__accopt_spans_apart
// CHECK:         llvm.return
// REMARK:      loops stay as written, as 'out', 'at', 'in' may overlap: which part of 'in' it accesses is not known
void unbounded(int n, int *at, double *in, double *out)
{
#pragma acc kernels present(at[0:n], in, out[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[j] += in[at[i] * at[i]] * i;
}

// The section of a data construct around; not one of a pointer that has changed since.
// CHECK-LABEL: @around
// CHECK:         call @__accopt_spans_apart
// CHECK:         llvm.return
void around(int n, int *at, double *in, double *out)
{
#pragma acc data copyin(at[0:n], in[0:n]) copy(out[0:n])
  {
#pragma acc kernels
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        out[j] += in[at[i] * at[i]] * i;
  }
}

// CHECK-LABEL: @advanced
// CHECK-NOT:     call @__accopt_spans_apart
// CHECK:         llvm.return
double *moving;
void advanced(int n, int *at, double *out)
{
#pragma acc data copyin(at[0:n], moving[0:2*n]) copy(out[0:n])
  {
    moving += n;
#pragma acc kernels
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        out[j] += moving[at[i] * at[i]] * i;
  }
}
