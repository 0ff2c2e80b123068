import java.io.FileInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertPathBuilder;
import java.security.cert.CertStore;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cms.jcajce.JcaSimpleSignerInfoVerifierBuilder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.jcajce.JcaDigestCalculatorProviderBuilder;
import org.bouncycastle.tsp.TimeStampResponse;
import org.bouncycastle.tsp.TimeStampToken;

/**
 * Prints the verdict of Bouncy Castle on time stamp responses: TimeStampToken.validate, the imprint, and the path to the root at genTime.
 * Arguments: folders, each with response.tsr, data and root.der. Prints one line a folder: pass, or fail and why.
 */
public final class BouncyCastleJudge {
  public static void main(String[] folders) {
    BouncyCastleProvider provider = new BouncyCastleProvider();
    java.security.Security.addProvider(provider);
    for (String folder : folders) {
      String verdict;
      try {
        judge(Path.of(folder), provider);
        verdict = "pass";
      } catch (Exception error) {
        verdict = "fail " + error.getClass().getSimpleName() + ": " + error.getMessage();
      }
      System.out.println(verdict.replaceAll("\\s+", " "));
    }
  }

  private static void judge(Path folder, BouncyCastleProvider provider) throws Exception {
    TimeStampResponse response = new TimeStampResponse(Files.readAllBytes(folder.resolve("response.tsr")));
    if (response.getStatus() > 1) throw new Exception("status " + response.getStatus());
    TimeStampToken token = response.getTimeStampToken();
    var imprint = token.getTimeStampInfo();
    var calculator = new JcaDigestCalculatorProviderBuilder().setProvider(provider).build().get(imprint.getHashAlgorithm());
    try (var out = calculator.getOutputStream()) {
      out.write(Files.readAllBytes(folder.resolve("data")));
    }
    if (!Arrays.equals(calculator.getDigest(), imprint.getMessageImprintDigest())) throw new Exception("imprint");

    var converter = new JcaX509CertificateConverter().setProvider(provider);
    List<X509Certificate> enclosed = new ArrayList<>();
    for (Object holder : token.getCertificates().getMatches(null)) enclosed.add(converter.getCertificate((X509CertificateHolder) holder));
    var signers = token.getCertificates().getMatches(token.getSID());
    if (signers.isEmpty()) throw new Exception("no certificate of the signer");
    X509Certificate signer = converter.getCertificate((X509CertificateHolder) signers.iterator().next());
    token.validate(new JcaSimpleSignerInfoVerifierBuilder().setProvider(provider).build(signer));

    var factory = CertificateFactory.getInstance("X.509", provider);
    X509Certificate root;
    try (var in = new FileInputStream(folder.resolve("root.der").toFile())) {
      root = (X509Certificate) factory.generateCertificate(in);
    }
    X509CertSelector target = new X509CertSelector();
    target.setCertificate(signer);
    var parameters = new PKIXBuilderParameters(Collections.singleton(new TrustAnchor(root, null)), target);
    parameters.addCertStore(CertStore.getInstance("Collection", new CollectionCertStoreParameters(enclosed)));
    parameters.setRevocationEnabled(false);
    parameters.setDate(imprint.getGenTime());
    CertPathBuilder.getInstance("PKIX", provider).build(parameters);
  }
}
