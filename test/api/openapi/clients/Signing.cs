using System.Security.Cryptography;
using System.Text;

/// <summary>Adds the API key to each request of the Tool API, and signs each POST.</summary>
sealed class Signing(string apiKey) : DelegatingHandler(new HttpClientHandler())
{
    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancel)
    {
        request.Headers.Add("X-API-Key", apiKey);
        if (request.Method == HttpMethod.Post)
        {
            // The very bytes that are sent are signed.
            byte[] body = request.Content is null ? [] : await request.Content.ReadAsByteArrayAsync(cancel);
            string timestamp = DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString();
            string nonce = Guid.NewGuid().ToString();
            string hash = Convert.ToHexString(SHA256.HashData(body)).ToLowerInvariant();
            string text = string.Join('\n', "POST", request.RequestUri!.AbsolutePath, timestamp, nonce, hash);
            byte[] mac = HMACSHA256.HashData(Encoding.UTF8.GetBytes(apiKey), Encoding.UTF8.GetBytes(text));
            request.Headers.Add("X-Timestamp", timestamp);
            request.Headers.Add("X-Nonce", nonce);
            request.Headers.Add("X-Signature", Convert.ToHexString(mac).ToLowerInvariant());
        }
        return await base.SendAsync(request, cancel);
    }
}
