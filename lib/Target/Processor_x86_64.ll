; What x86-64 tells of itself: the words of ProcessorFeatures.def, and whether
; the system grants tiles (word 8), which is asked for only where they are needed.

define internal { i32, i32, i32, i32 } @onnxq_cpuid(i32 %leaf, i32 %part) {
  %all = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"(i32 %leaf, i32 %part)
  ret { i32, i32, i32, i32 } %all
}

define internal void @onnxq_processor(ptr %words) {
  store [9 x i32] zeroinitializer, ptr %words, align 4
  %zero = call { i32, i32, i32, i32 } @onnxq_cpuid(i32 0, i32 0)
  %most = extractvalue { i32, i32, i32, i32 } %zero, 0
  %one = call { i32, i32, i32, i32 } @onnxq_cpuid(i32 1, i32 0)
  %one.c = extractvalue { i32, i32, i32, i32 } %one, 2
  store i32 %one.c, ptr %words, align 4
  %switch = and i32 %one.c, 134217728
  %switched = icmp ne i32 %switch, 0
  br i1 %switched, label %state, label %after.state

state:
  %registers = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 0)
  %state.low = extractvalue { i32, i32 } %registers, 0
  %state.place = getelementptr i32, ptr %words, i64 7
  store i32 %state.low, ptr %state.place, align 4
  br label %after.state

after.state:
  %has.seven = icmp uge i32 %most, 7
  br i1 %has.seven, label %seven, label %extended

seven:
  %leaf = call { i32, i32, i32, i32 } @onnxq_cpuid(i32 7, i32 0)
  %parts = extractvalue { i32, i32, i32, i32 } %leaf, 0
  %leaf.b = extractvalue { i32, i32, i32, i32 } %leaf, 1
  %leaf.c = extractvalue { i32, i32, i32, i32 } %leaf, 2
  %leaf.d = extractvalue { i32, i32, i32, i32 } %leaf, 3
  %b.place = getelementptr i32, ptr %words, i64 1
  store i32 %leaf.b, ptr %b.place, align 4
  %c.place = getelementptr i32, ptr %words, i64 2
  store i32 %leaf.c, ptr %c.place, align 4
  %d.place = getelementptr i32, ptr %words, i64 3
  store i32 %leaf.d, ptr %d.place, align 4
  %has.part = icmp uge i32 %parts, 1
  br i1 %has.part, label %part, label %extended

part:
  %second = call { i32, i32, i32, i32 } @onnxq_cpuid(i32 7, i32 1)
  %second.a = extractvalue { i32, i32, i32, i32 } %second, 0
  %second.d = extractvalue { i32, i32, i32, i32 } %second, 3
  %second.a.place = getelementptr i32, ptr %words, i64 4
  store i32 %second.a, ptr %second.a.place, align 4
  %second.d.place = getelementptr i32, ptr %words, i64 5
  store i32 %second.d, ptr %second.d.place, align 4
  br label %extended

extended:
  %range = call { i32, i32, i32, i32 } @onnxq_cpuid(i32 -2147483648, i32 0)
  %farthest = extractvalue { i32, i32, i32, i32 } %range, 0
  %has.first = icmp uge i32 %farthest, -2147483647
  br i1 %has.first, label %first, label %done

first:
  %names = call { i32, i32, i32, i32 } @onnxq_cpuid(i32 -2147483647, i32 0)
  %names.c = extractvalue { i32, i32, i32, i32 } %names, 2
  %names.place = getelementptr i32, ptr %words, i64 6
  store i32 %names.c, ptr %names.place, align 4
  br label %done

done:
  ret void
}
