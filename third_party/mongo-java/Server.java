// SPDX-License-Identifier: GPL-2.0-or-later
//
// mongo-java-server, which implements MongoDB's protocol, as a command for
// tests:
//
//     Server file host port [tls-port certificate key]
//
// It stores its data in the file. A write is stored before it is acknowledged,
// so it survives a kill. By default, the library would store writes once per
// second.

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Set;

public class Server {
    // Commands that change nothing. Others are followed by a commit.
    static final Set<String> READS = Set.of("find", "getMore", "count",
        "distinct", "hello", "isMaster", "ismaster", "ping", "killCursors",
        "endSessions", "listCollections", "listIndexes", "listDatabases",
        "buildInfo", "buildinfo", "serverStatus");

    // The library announces 4.0 itself, which libmongoc 2 refuses.
    static class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 2, 0);
        }

        @Override
        public int getWireVersion() {
            return 8;
        }
    }

    static class Backend extends H2Backend {
        Backend(String file) {
            super(file);
            version(new Version());
            // Old versions would be kept for a crash of the machine, which the
            // tests do not need. With a version per write, the file would grow
            // fast.
            getMvStore().setRetentionTime(0);
        }

        @Override
        public Document handleMessage(MongoMessage message) {
            String command = message.getDocument().keySet().iterator().next();
            try {
                return super.handleMessage(message);
            } finally {
                if (!READS.contains(command)) {
                    commit();
                }
            }
        }
    }

    static PrivateKey key(String file) throws Exception {
        String text = Files.readString(Path.of(file))
            .replaceAll("-----[A-Z ]*-----", "").replaceAll("\\s", "");
        return KeyFactory.getInstance("RSA").generatePrivate(
            new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
    }

    static X509Certificate certificate(String file) throws Exception {
        return (X509Certificate) CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(
                Files.readAllBytes(Path.of(file))));
    }

    static void serve(String[] args) throws Exception {
        Backend backend = new Backend(args[0]);
        if (args.length > 3) {
            MongoServer tls = new MongoServer(backend);
            tls.enableSsl(key(args[5]), null, certificate(args[4]));
            tls.bind(args[1], Integer.parseInt(args[3]));
        }
        // Bound last: when a client gets an answer here, everything is ready.
        MongoServer plain = new MongoServer(backend);
        plain.bind(args[1], Integer.parseInt(args[2]));
        Runtime.getRuntime().addShutdownHook(
            new Thread(() -> backend.getMvStore().close()));
    }

    public static void main(String[] args) {
        try {
            serve(args);
        } catch (Throwable error) {
            System.err.println("Server: " + error);
            // Threads that are already running would keep the process alive.
            Runtime.getRuntime().halt(1);
        }
    }
}
