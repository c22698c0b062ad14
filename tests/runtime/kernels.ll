; Source of kernels.ptx: llvmlite 0.50, cpu sm_75, features +ptx63, opt 2.
target triple = "nvptx64-nvidia-cuda"
@table = addrspace(1) externally_initialized global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@shared = external addrspace(3) global [0 x i32], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @scale(ptr addrspace(1) %x, float %a, i64 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %bw = mul i32 %b, %w
  %i = add i32 %bw, %t
  %i64 = zext i32 %i to i64
  %in = icmp slt i64 %i64, %n
  br i1 %in, label %body, label %done
body:
  %p = getelementptr float, ptr addrspace(1) %x, i64 %i64
  %v = load float, ptr addrspace(1) %p
  %r = fmul float %v, %a
  store float %r, ptr addrspace(1) %p
  br label %done
done:
  ret void
}
define ptx_kernel void @table_sum(ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) @table
  %b = load i32, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @table, i64 12)
  %s = add i32 %a, %b
  store i32 %s, ptr addrspace(1) %out
  ret void
}
define ptx_kernel void @spin(i64 %ns) {
  %start = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  br label %test
test:
  %now = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  %d = sub i64 %now, %start
  %go = icmp ult i64 %d, %ns
  br i1 %go, label %test, label %done
done:
  ret void
}
define ptx_kernel void @reverse(ptr addrspace(1) %x, i32 %at) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %t
  %v = load i32, ptr addrspace(1) %p
  %si = add i32 %t, %at
  %s = getelementptr i32, ptr addrspace(3) @shared, i32 %si
  store i32 %v, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %w1 = sub i32 %w, 1
  %o = sub i32 %w1, %t
  %oi = add i32 %o, %at
  %s2 = getelementptr i32, ptr addrspace(3) @shared, i32 %oi
  %v2 = load i32, ptr addrspace(3) %s2
  store i32 %v2, ptr addrspace(1) %p
  ret void
}
define ptx_kernel void @crash(i64 %address) {
  %p = inttoptr i64 %address to ptr addrspace(1)
  store i32 1, ptr addrspace(1) %p
  ret void
}
