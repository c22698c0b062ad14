// RUN: accopt %s --target=nvptx --emit=data -o %t 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=IR < %t

// A function waits before it returns for results in its own variables, if nothing in it may wait for them.

void elsewhere(void);
void *memcpy(void *, const void *, unsigned long);

// CHECK: warning: the result in 's' may come after 'constant' has returned, so the function waits for it
// IR-LABEL: llvm.func @constant
// IR:         acc.wait({{.*}} : i32)
// IR-NEXT:    llvm.return
void constant(double *a, int n) {
  double s = 0;
#pragma acc parallel loop reduction(+ : s) async(1) copyin(a[0 : n])
  for (int i = 0; i < n; i++)
    s += a[i];
}

// CHECK: warning: the result in 'b' may come after 'any_queue' has returned
// IR-LABEL: llvm.func @any_queue
// IR:         acc.wait
// IR-NEXT:    llvm.return
void any_queue(int q) {
  double b[10];
#pragma acc parallel loop copyout(b) async(q) wait(3)
  for (int i = 0; i < 10; i++)
    b[i] = i;
}

// CHECK: warning: the result in 't' may come after 'updates' has returned
// IR-LABEL: llvm.func @updates
// IR:         acc.wait
// IR-NEXT:    llvm.return
void updates(void) {
  double t = 1;
#pragma acc update self(t) async
}

// A use before the end does not wait; the warning says where it is: behind the directive, in a call, or in a
// loop around both, but not in another branch.
// CHECK: warning: the result in 's' may come after it is used: 'reads' waits for it only when it returns
// CHECK: :10: note: 's' is used here
// IR-LABEL: llvm.func @reads
// IR:         acc.wait({{.*}} : i32)
// IR-NEXT:    llvm.return
double reads(double *a, int n) {
  double s = 0;
#pragma acc parallel loop reduction(+ : s) async(1) copyin(a[0 : n])
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// CHECK: warning: the result in 'b' may come after it is used: 'prints' waits
// CHECK: note: 'b' is used here
void prints(double *a) {
  double b[10];
#pragma acc parallel loop copyout(b) async(1)
  for (int i = 0; i < 10; i++)
    b[i] = i;
  memcpy(a, b + 2, 16);
}

// CHECK: warning: the result in 't' may come after it is used: 'around' waits
// CHECK: note: 't' is used here
void around(double *a, int n) {
  double t = 1;
  for (int k = 0; k < n; k++) {
    a[k] = t;
#pragma acc update self(t) async
  }
}

// CHECK: warning: the result in 't' may come after 'branches' has returned
void branches(double *a, int n) {
  double t = 1;
  if (n > 3) {
#pragma acc update self(t) async
  } else
    a[0] = t;
}

// CHECK-NOT: may come
// IR-LABEL: llvm.func @waits
// IR:         acc.wait
// IR-NOT:     acc.wait
double waits(double *a, int n) {
  double s = 0;
#pragma acc parallel loop reduction(+ : s) async(1) copyin(a[0 : n])
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma acc wait(1)
  return s;
}

// IR-LABEL: llvm.func @calls
// IR-NOT:     acc.wait
void calls(double *a, int n) {
  double s = 0;
#pragma acc parallel loop reduction(+ : s) async(1) copyin(a[0 : n])
  for (int i = 0; i < n; i++)
    s += a[i];
  elsewhere();
}

// IR-LABEL: llvm.func @others
// IR-NOT:     acc.wait
void others(double *a, double *s, int n) {
  static double kept[10];
#pragma acc parallel loop copyout(kept, s[0 : n]) copyin(a[0 : n]) async
  for (int i = 0; i < n; i++)
    s[i] = kept[i % 10] = a[i];
}
