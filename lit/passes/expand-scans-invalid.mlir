// RUN: accopt %s -p expand-scans --verify-diagnostics | filecheck %s

// CHECK: a scan over gangs is inside of another loop or statement of the construct
// CHECK: give the scan worker and vector
llvm.func @repeated(%n: i32, %in: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    scf.for %t = %c0 to %n step %c1 : i32 {
      acc.loop gang vector control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
        accx.scan_step "add" %out, %in : i32 to i32
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
    }
    acc.yield
  }
  llvm.return
}
