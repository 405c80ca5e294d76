# SPDX-License-Identifier: GPL-2.0-or-later
#
# A formula for Homebrew on Linux. packaging/release writes the address and the
# checksum of the archive into it.
class Sysbench < Formula
  desc "Database load generator, scripted in Lua"
  homepage "@HOMEPAGE@"
  url "@ARCHIVE@"
  sha256 "@SHA256@"
  license all_of: ["GPL-2.0-or-later", "MIT"]

  depends_on "pkgconf" => :build
  depends_on "boost"
  depends_on "concurrencykit"
  depends_on "jansson"
  depends_on "libmicrohttpd"
  depends_on "libpq"
  depends_on "liburing"
  depends_on :linux
  depends_on "luajit"
  depends_on "mariadb-connector-c"
  depends_on "mongo-c-driver"
  depends_on "sqlite"
  depends_on "zlib"

  def install
    system "./configure", "--disable-silent-rules", "--with-sqlite=yes",
           "--with-mysql=yes", "--with-pgsql=yes", "--with-mongodb=yes",
           "--without-openmpi", "--without-mpich",
           "--with-bash-completion=#{bash_completion}",
           "--with-zsh-completion=#{zsh_completion}", *std_configure_args
    system "make", "install"
  end

  test do
    system bin/"sysbench", "--test=cpu", "--cpu-max-prime=1", "run"
    database = "--sqlite-db=#{testpath}/test.sqlite"
    system bin/"sysbench", "oltp_read_write", "--db-driver=sqlite", database,
           "--table-size=1000", "prepare"
    system bin/"sysbench", "oltp_read_write", "--db-driver=sqlite", database,
           "--table-size=1000", "--events=10", "run"
  end
end
