// Output files: whole or not at all, also where the disk is full.

#include "OnnxQuant/Support/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace onnxquant;

namespace {

class AtomicFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("atomic-file", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const {
    llvm::SmallString<128> result(folder);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

  std::set<std::string> list() const {
    std::set<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end; it != end;
         it.increment(code))
      names.insert(llvm::sys::path::filename(it->path()).str());
    return names;
  }

  static void write(llvm::StringRef path, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    ASSERT_FALSE(code);
  }
  static std::string read(llvm::StringRef path) {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : "<missing>";
  }

  llvm::SmallString<128> folder;
};

/// Lets no file grow beyond some bytes, as a full disk does.
class SmallDisk {
public:
  explicit SmallDisk(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old);
    rlimit small = old;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
  }

private:
  rlimit old;
  void (*handler)(int);
};

TEST_F(AtomicFileTest, HeldFilesAppearTogetherWhenAsked) {
  std::string one = path("one"), other = path("other");
  write(one, "old");
  {
    HeldFiles forgotten;
    forgotten.hold([&] {
      EXPECT_FALSE(bool(writeTogether({{one, "never"}, {other, "seen"}})));
    });
    EXPECT_EQ(read(one), "old");
    EXPECT_EQ(list(), std::set<std::string>{"one"});
  }
  EXPECT_EQ(list(), std::set<std::string>{"one"});
  HeldFiles held;
  held.hold([&] {
    EXPECT_FALSE(bool(writeTogether({{one, "new"}, {other, "two"}})));
  });
  EXPECT_EQ(read(one), "old");
  EXPECT_FALSE(bool(held.commit()));
  EXPECT_EQ(read(one), "new");
  EXPECT_EQ(read(other), "two");
}

TEST_F(AtomicFileTest, HeldPipesAreWrittenToWhenAsked) {
  std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  HeldFiles held;
  held.hold([&] { EXPECT_FALSE(bool(writeTogether({{pipe, "text"}}))); });
  char text[8] = {};
  EXPECT_LE(::read(reader, text, sizeof(text)), 0);
  EXPECT_FALSE(bool(held.commit()));
  EXPECT_EQ(::read(reader, text, sizeof(text)), 4);
  EXPECT_STREQ(text, "text");
  ::close(reader);
}

} // namespace

TEST_F(AtomicFileTest, AppearsOnCommit) {
  auto file = AtomicFile::create(path("out"));
  ASSERT_TRUE(static_cast<bool>(file));
  (*file)->os() << "content";
  EXPECT_EQ(read(path("out")), "<missing>");
  EXPECT_FALSE(static_cast<bool>((*file)->commit()));
  EXPECT_EQ(read(path("out")), "content");
  file->reset();
  EXPECT_EQ(list(), std::set<std::string>{"out"});
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  {
    auto file = AtomicFile::create(path("out"));
    ASSERT_TRUE(static_cast<bool>(file));
    (*file)->os() << "content";
    (*file)->os().flush();
    // Where the system has files without names, there is none to see.
    EXPECT_EQ(list().count("out"), 0u);
  }
  EXPECT_TRUE(list().empty());
}

TEST_F(AtomicFileTest, KeepsTheOldFileWithoutCommit) {
  write(path("out"), "old");
  {
    auto file = AtomicFile::create(path("out"));
    ASSERT_TRUE(static_cast<bool>(file));
    (*file)->os() << "new";
  }
  EXPECT_EQ(read(path("out")), "old");
  EXPECT_EQ(list(), std::set<std::string>{"out"});
}

TEST_F(AtomicFileTest, ReplacesTheOldFile) {
  write(path("out"), "old and longer");
  auto file = AtomicFile::create(path("out"));
  ASSERT_TRUE(static_cast<bool>(file));
  (*file)->os() << "new";
  EXPECT_FALSE(static_cast<bool>((*file)->commit()));
  EXPECT_EQ(read(path("out")), "new");
}

TEST_F(AtomicFileTest, TwoWritersDontMix) {
  auto first = AtomicFile::create(path("out"));
  auto second = AtomicFile::create(path("out"));
  ASSERT_TRUE(first && second);
  (*first)->os() << "first";
  (*second)->os() << "second";
  EXPECT_FALSE(static_cast<bool>((*second)->commit()));
  EXPECT_FALSE(static_cast<bool>((*first)->commit()));
  EXPECT_EQ(read(path("out")), "first");
  EXPECT_EQ(list(), std::set<std::string>{"out"});
}

TEST_F(AtomicFileTest, HasTheModeOfAnOrdinaryFile) {
  mode_t mask = umask(022);
  auto file = AtomicFile::create(path("out"));
  umask(mask);
  ASSERT_TRUE(static_cast<bool>(file));
  EXPECT_FALSE(static_cast<bool>((*file)->commit()));
  struct stat status;
  ASSERT_EQ(stat(path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(AtomicFileTest, LeavesAPipeInPlace) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto file = AtomicFile::create(path("pipe"));
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  (*file)->os() << "text";
  EXPECT_FALSE(static_cast<bool>((*file)->commit()));
  char text[5] = {};
  EXPECT_EQ(::read(reader, text, 4), 4);
  EXPECT_STREQ(text, "text");
  close(reader);
  struct stat status;
  ASSERT_EQ(stat(path("pipe").c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
  EXPECT_EQ(list(), std::set<std::string>{"pipe"});
}

TEST_F(AtomicFileTest, NamesAFolderThatIsMissing) {
  auto file = AtomicFile::create(path("nowhere/out"));
  ASSERT_FALSE(static_cast<bool>(file));
  std::string message = llvm::toString(file.takeError());
  EXPECT_NE(message.find(path("nowhere/out")), std::string::npos) << message;
  EXPECT_TRUE(list().empty());
}

TEST_F(AtomicFileTest, FailsOverAFolder) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("out")));
  auto file = AtomicFile::create(path("out"));
  ASSERT_TRUE(static_cast<bool>(file));
  llvm::Error error = (*file)->commit();
  EXPECT_TRUE(static_cast<bool>(error));
  llvm::consumeError(std::move(error));
  file->reset();
  EXPECT_EQ(list(), std::set<std::string>{"out"});
}

TEST_F(AtomicFileTest, AFullDiskLeavesTheOldFile) {
  write(path("out"), "old");
  {
    auto file = AtomicFile::create(path("out"));
    ASSERT_TRUE(static_cast<bool>(file));
    llvm::Error error = llvm::Error::success();
    llvm::cantFail(std::move(error));
    {
      SmallDisk disk(4096);
      (*file)->os() << std::string(1 << 20, 'x');
      error = (*file)->commit();
    }
    ASSERT_TRUE(static_cast<bool>(error));
    std::string message = llvm::toString(std::move(error));
    EXPECT_NE(message.find(path("out")), std::string::npos) << message;
  }
  EXPECT_EQ(read(path("out")), "old");
  EXPECT_EQ(list(), std::set<std::string>{"out"});
}

TEST_F(AtomicFileTest, AFullDiskWithoutCommitIsQuiet) {
  {
    SmallDisk disk(4096);
    auto file = AtomicFile::create(path("out"));
    ASSERT_TRUE(static_cast<bool>(file));
    (*file)->os() << std::string(1 << 20, 'x');
  }
  EXPECT_TRUE(list().empty());
}

/// Writes to standard output in a process of its own, over `target`.
static int writeStandardOutput(const char *target) {
  pid_t child = fork();
  if (child == 0) {
    int fd = open(target, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
      _exit(3);
    auto file = AtomicFile::create("-");
    if (!file)
      _exit(4);
    (*file)->os() << std::string(1 << 16, 'x');
    if (llvm::Error error = (*file)->commit()) {
      llvm::consumeError(std::move(error));
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(AtomicFileTest, StandardOutput) {
  EXPECT_EQ(writeStandardOutput(path("stdout").c_str()), 0);
  EXPECT_EQ(read(path("stdout")), std::string(1 << 16, 'x'));
}

TEST_F(AtomicFileTest, StandardOutputThatIsFull) {
  EXPECT_EQ(writeStandardOutput("/dev/full"), 1);
}

static bool isWritable(const std::string &path) {
  if (llvm::Error error = checkWritable(path)) {
    EXPECT_NE(llvm::toString(std::move(error)).find(path), std::string::npos);
    return false;
  }
  return true;
}

TEST_F(AtomicFileTest, SeveralAppearTogether) {
  write(path("a"), "old a");
  auto a = AtomicFile::create(path("a")), b = AtomicFile::create(path("b"));
  ASSERT_TRUE(a && b);
  (*a)->os() << "new a";
  (*b)->os() << "new b";
  EXPECT_FALSE(static_cast<bool>(commitTogether({a->get(), b->get()})));
  EXPECT_EQ(read(path("a")), "new a");
  EXPECT_EQ(read(path("b")), "new b");
  EXPECT_EQ(list(), (std::set<std::string>{"a", "b"}));
}

TEST_F(AtomicFileTest, OneThatCannotBePlacedKeepsAll) {
  write(path("a"), "old a");
  auto a = AtomicFile::create(path("a")), b = AtomicFile::create(path("b")),
       c = AtomicFile::create(path("c"));
  ASSERT_TRUE(a && b && c);
  (*a)->os() << "new a";
  (*b)->os() << "new b";
  (*c)->os() << "new c";
  // A folder in the place of a file can't be replaced.
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("c")));
  llvm::Error error = commitTogether({a->get(), b->get(), c->get()});
  ASSERT_TRUE(static_cast<bool>(error));
  EXPECT_NE(llvm::toString(std::move(error)).find(path("c")),
            std::string::npos);
  EXPECT_EQ(read(path("a")), "old a");
  EXPECT_EQ(list(), (std::set<std::string>{"a", "c"}));
}

TEST_F(AtomicFileTest, AFullDiskKeepsAll) {
  write(path("a"), "old a");
  write(path("b"), "old b");
  auto a = AtomicFile::create(path("a")), b = AtomicFile::create(path("b"));
  ASSERT_TRUE(a && b);
  {
    SmallDisk disk(4096);
    (*a)->os() << "new a";
    (*b)->os() << std::string(10000, 'b');
    llvm::Error error = commitTogether({a->get(), b->get()});
    EXPECT_TRUE(static_cast<bool>(error));
    llvm::consumeError(std::move(error));
    // What is written after an error is lost without a crash.
    (*b)->os() << std::string(100000, 'b');
    b->reset();
  }
  EXPECT_EQ(read(path("a")), "old a");
  EXPECT_EQ(read(path("b")), "old b");
}

TEST_F(AtomicFileTest, OnePathTwiceIsRefused) {
  auto a = AtomicFile::create(path("a")), b = AtomicFile::create(path("a"));
  ASSERT_TRUE(a && b);
  llvm::Error error = commitTogether({a->get(), b->get()});
  EXPECT_TRUE(static_cast<bool>(error));
  llvm::consumeError(std::move(error));
  a->reset();
  b->reset();
  EXPECT_TRUE(list().empty());
}

TEST_F(AtomicFileTest, NamesMayBeAsLongAsTheSystemTakes) {
  std::string name(255, 'n');
  auto file = AtomicFile::create(path(name));
  ASSERT_TRUE(static_cast<bool>(file));
  EXPECT_FALSE(static_cast<bool>((*file)->commit()));
  EXPECT_EQ(list(), std::set<std::string>{name});
}

TEST_F(AtomicFileTest, WritableIsKnownBefore) {
  EXPECT_TRUE(isWritable("-"));
  EXPECT_TRUE(isWritable("file-of-this-folder"));
  EXPECT_TRUE(isWritable(path("new")));
  EXPECT_TRUE(isWritable("/dev/null"));
  EXPECT_FALSE(isWritable(path("no-folder/new")));
  EXPECT_FALSE(isWritable(std::string(folder)));
}
