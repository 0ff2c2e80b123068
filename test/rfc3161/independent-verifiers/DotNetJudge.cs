using System;
using System.IO;
using System.Linq;
using System.Security.Cryptography.Pkcs;
using System.Security.Cryptography.X509Certificates;

// Prints the verdict of .NET on time stamp responses: Rfc3161TimestampToken over the data, and the chain to the root at genTime.
// Arguments: folders, each with response.tsr, data and root.der. Prints one line a folder: pass, or fail and why.
foreach (var folder in args)
{
    string verdict;
    try
    {
        verdict = Judge(folder);
    }
    catch (Exception error)
    {
        verdict = "fail " + error.GetType().Name + ": " + error.Message;
    }
    Console.WriteLine(string.Join(' ', verdict.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)));
}

static string Judge(string folder)
{
    var data = File.ReadAllBytes(Path.Combine(folder, "data"));
    var bytes = File.ReadAllBytes(Path.Combine(folder, "response.tsr"));
    // A response is decoded only against the request that it answers.
    var hash = TokenOf(bytes) is { } found ? found.TokenInfo.HashAlgorithmId : null;
    if (hash is null) return "fail no token";
    var token = TokenOf(bytes)!;
    if (!token.VerifySignatureForData(data, out var signer) || signer is null) return "fail signature, imprint or certificate";
    using var chain = new X509Chain();
    chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
    chain.ChainPolicy.CustomTrustStore.Add(X509CertificateLoader.LoadCertificateFromFile(Path.Combine(folder, "root.der")));
    chain.ChainPolicy.ExtraStore.AddRange(token.AsSignedCms().Certificates);
    chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
    chain.ChainPolicy.DisableCertificateDownloads = true;
    chain.ChainPolicy.VerificationTime = token.TokenInfo.Timestamp.UtcDateTime;
    if (!chain.Build(signer)) return "fail chain " + string.Join(',', chain.ChainStatus.Select(status => status.Status));
    return "pass";
}

static Rfc3161TimestampToken? TokenOf(byte[] response)
{
    var outer = new System.Formats.Asn1.AsnReader(response, System.Formats.Asn1.AsnEncodingRules.BER).ReadSequence();
    var status = outer.ReadSequence().ReadInteger();
    if (status > 1 || !outer.HasData) return null;
    return Rfc3161TimestampToken.TryDecode(outer.ReadEncodedValue(), out var token, out _) ? token : null;
}
