// RUN: accopt %s --target=nvptx --emit=data | filecheck %s

// The target of a global pointer of a declare directive with deviceptr is on the device already.
long *e;
#pragma acc declare deviceptr(e)
// The other clauses are about the pointer itself; its target is copied.
long *f;
#pragma acc declare create(f)

// CHECK-LABEL: llvm.func @on_device
// CHECK:         %[[E:.*]] = llvm.load
// CHECK:         acc.deviceptr varPtr(%[[E]] : !llvm.ptr)
// CHECK-NOT:     acc.copyin
// CHECK:         llvm.return
void on_device(int n)
{
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        e[i] += 10;
}

// CHECK-LABEL: llvm.func @copied
// CHECK-NOT:     acc.deviceptr
// CHECK:         acc.copyin varPtr({{.*}}name = "f"
void copied(int n)
{
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        f[i] += 10;
}

// A construct that moves the pointer has a copy of the pointer, not of what is there.
// CHECK-LABEL: llvm.func @moved
// CHECK:         acc.firstprivate varPtr(%e
// CHECK:         llvm.return
void moved(void)
{
#pragma acc serial
    {
        e++;
        *e += 5;
    }
}
