// A program that links a CUDA library in one way or another, and does nothing with it.
#ifdef FAIRGV_CALL
extern "C" int FAIRGV_CALL(int*);
#endif

int main() {
#ifdef FAIRGV_CALL
  int count = 0;
  (void)FAIRGV_CALL(&count);
#endif
  return 0;
}
