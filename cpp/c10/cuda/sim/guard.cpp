// Mirrors: nothing in PyTorch: ends kernels that never end
//
// Note [A kernel that never ends]
// Problem: an endless loop in a kernel looks at no flag, and the program that waits for the kernel does not react to
// Ctrl-C. Trick: a thread, the guard, looks ten times a second at the threads that run kernels. It sends SIGSEGV to the
// thread of a kernel
//   - that has used more processor time than REFTORCH_CUDA_SIM_TIMEOUT_S; the device then fails with
//     cudaErrorLaunchTimeout, as a GPU does that has a time limit,
//   - that has used half a second of processor time, if the user has pressed Ctrl-C or the process ends; the device
//   stays
//     usable, and Python raises KeyboardInterrupt as soon as the program no longer waits.
// The handler of SIGSEGV then leaves the kernel as after an illegal access. Processor time is counted, so that a
// debugger may hold a kernel for as long as it likes.
//
// The simulator's own code must not be left in the middle, because it may hold a lock of malloc. Therefore the handler
// leaves only code of the kernel, and the simulator looks at the flag when it returns to the kernel. The report of a
// kernel that is left belongs to the simulator, too, because the guard sends its signal until the kernel has ended.
//
// While no kernel has run for a second, the guard waits without a time limit.
#include <c10/cuda/sim/runtime.h>

#include <pthread.h>
#include <time.h>

#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>

namespace cudasim {

constexpr double kPatience = 0.5; // seconds of processor time
constexpr auto kRound = std::chrono::milliseconds(100);

struct Guard {
  std::mutex mutex; // protects all but the atomics
  std::condition_variable wake;
  std::list<KernelThread*> threads;
  bool started = false;
  std::atomic<bool> asleep{false}, interrupted{false}, listening{false};
  struct sigaction previous; // the handler of SIGINT before ours
};
static Guard* const the_guard = new Guard; // never destroyed, because the guard may still run when the process ends

static void on_interrupt(int number, siginfo_t* info, void* context) {
  the_guard->interrupted = true;
  const struct sigaction& previous = the_guard->previous;
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_IGN && previous.sa_handler != SIG_DFL) {
    previous.sa_handler(number);
  }
}

// Puts our handler of SIGINT before that of the program, or takes it away. A program whose SIGINT ends the process
// keeps its handler.
static void listen(bool on) {
  Guard& g = *the_guard;
  struct sigaction now{};
  sigaction(SIGINT, nullptr, &now);
  const bool is_ours = now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_interrupt;
  if (on && !is_ours && (now.sa_flags & SA_SIGINFO || now.sa_handler != SIG_DFL)) {
    g.previous = now;
    struct sigaction ours = now;
    ours.sa_sigaction = on_interrupt;
    ours.sa_flags |= SA_SIGINFO;
    sigaction(SIGINT, &ours, nullptr);
  } else if (!on && is_ours) {
    sigaction(SIGINT, &g.previous, nullptr);
  }
  g.listening = on;
}

static double processor_time(pthread_t thread) {
  clockid_t clock;
  timespec time{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

static void look_at(KernelThread& it, double limit) {
  const uint64_t kernels = it.kernels;
  if (kernels != it.seen) { // another kernel than in the last round
    it.seen = kernels;
    it.begin = processor_time(it.thread);
    return;
  }
  const double used = processor_time(it.thread) - it.begin;
  if (limit > 0 && used > limit) {
    it.stop = KernelThread::AtTheLimit;
  } else if ((it.interrupted == kernels || runtime().ended) && used > kPatience) {
    it.stop = KernelThread::ByTheUser;
  } else {
    return;
  }
  pthread_kill(it.thread, SIGSEGV);
}

static void watch_kernels() {
  pthread_setname_np(pthread_self(), "cuda guard");
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Guard& g = *the_guard;
  const double limit = std::atof(setting("REFTORCH_CUDA_SIM_TIMEOUT_S", "60").c_str());
  int idle = 0; // rounds
  std::unique_lock<std::mutex> lock(g.mutex);
  for (;;) {
    if (idle < 10) {
      g.wake.wait_for(lock, kRound);
    } else {
      g.asleep = true;
      g.wake.wait(lock, [&] { return !g.asleep; });
      idle = 0;
    }
    bool runs = false, lasts = false;
    const bool interrupted = g.interrupted.exchange(false);
    for (KernelThread* it : g.threads) {
      if (it->kernels % 2 == 1) {
        runs = true;
        if (interrupted) {
          it->interrupted = it->kernels;
        }
        lasts = lasts || it->kernels == it->seen;
        look_at(*it, limit);
      }
    }
    idle = runs ? 0 : idle + 1;
    if (lasts != g.listening) {
      listen(lasts);
    }
  }
}

void lock_guard_thread(bool lock) {
  if (lock) {
    the_guard->mutex.lock();
  } else {
    the_guard->mutex.unlock();
  }
}

KernelThread::KernelThread() : thread(pthread_self()) {
  std::lock_guard<std::mutex> lock(the_guard->mutex);
  the_guard->threads.push_back(this);
  if (!the_guard->started) {
    the_guard->started = true;
    std::thread(watch_kernels).detach();
  }
}
KernelThread::~KernelThread() {
  std::lock_guard<std::mutex> lock(the_guard->mutex);
  the_guard->threads.remove(this);
}

void KernelThread::begin_kernel() {
  stop = No;
  kernels++;
  if (the_guard->asleep) {
    std::lock_guard<std::mutex> lock(the_guard->mutex);
    the_guard->asleep = false;
    the_guard->wake.notify_one();
  }
}
void KernelThread::end_kernel() {
  kernels++;
}

} // namespace cudasim
