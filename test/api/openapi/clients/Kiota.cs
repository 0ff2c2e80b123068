using System.Text.Json;
using Microsoft.Kiota.Abstractions.Authentication;
using Microsoft.Kiota.Http.HttpClientLibrary;
using ToolApi.Models;

static string Given(string name) => Environment.GetEnvironmentVariable(name) ?? throw new Exception($"{name} is not set");
static HttpClientRequestAdapter Adapter(HttpClient http) =>
    new(new AnonymousAuthenticationProvider(), httpClient: http) { BaseUrl = Given("BASE") };

var tool = new ToolApi.ToolClient(Adapter(new HttpClient(new Signing(Given("KEY")))));
var panel = new PanelApi.PanelClient(Adapter(new HttpClient()));

BrowserConsentRequest Consent(string type, string version) => new()
{
    ConsentType = type,
    Decision = BrowserConsentRequest_decision.Accepted,
    DocumentVersionId = Guid.Parse(Given(version)),
};

var pong = await tool.Tool.V1.Ping.GetAsync();
var recorded = await tool.Tool.V1.Consents.PostAsync(Consent("cookie", "COOKIE_POLICY"));
var batch = await tool.Tool.V1.Consents.Batch.PostAsync(new()
{
    Consents = [Consent("cookie", "COOKIE_POLICY"), Consent("document_approval", "EXPLICIT_CONSENT")],
});
var item = batch!.Data!.Results!.OfType<RejectedBatchItem>().Single();
var wrong = Consent("cookie", "COOKIE_POLICY");
wrong.VisitorId = new string('x', 101);
ErrorResponse error = new();
try { await tool.Tool.V1.Consents.PostAsync(wrong); }
catch (ErrorResponse refused) { error = refused; }
var signedIn = await panel.Api.V1.Auth.Login.PostAsync(new() { Email = Given("EMAIL"), Password = Given("PASSWORD") });
string? panelError = null;
try { await panel.Api.V1.Sites.GetAsync(); }
catch (PanelApi.Models.ErrorResponse refused) { panelError = refused.Code; }

Console.WriteLine(JsonSerializer.Serialize(new
{
    pong = pong!.Message?.ToString()?.ToLowerInvariant(),
    token = recorded!.Data!.ConsentToken,
    item = new object?[] { item.Index, item.ErrorCode, item.Code },
    error = new[] { error.Code, error.Errors![0].Field },
    signedIn = new[] { signedIn!.Data!.TokenType?.ToString(), signedIn.Data.AccessToken!.GetType().Name.ToLowerInvariant() },
    panelError,
}));
