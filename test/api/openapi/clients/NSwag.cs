using Newtonsoft.Json;

static string Given(string name) => Environment.GetEnvironmentVariable(name) ?? throw new Exception($"{name} is not set");

var tool = new Tool.ToolClient(new HttpClient(new Signing(Given("KEY")))) { BaseUrl = Given("BASE") };
var panel = new Panel.PanelClient(new HttpClient()) { BaseUrl = Given("BASE") };

Tool.BrowserConsentRequest Consent(string type, string version) => new()
{
    Consent_type = type,
    Decision = Tool.BrowserConsentRequestDecision.Accepted,
    Document_version_id = Guid.Parse(Given(version)),
};

var pong = await tool.PingAsync(null);
var recorded = await tool.RecordConsentAsync(Consent("cookie", "COOKIE_POLICY"));
var batch = await tool.RecordConsentBatchAsync(new()
{
    Consents = [Consent("cookie", "COOKIE_POLICY"), Consent("document_approval", "EXPLICIT_CONSENT")],
});
var item = batch.Data.Results.Single(result => result is Tool.RejectedBatchItem);
var wrong = Consent("cookie", "COOKIE_POLICY");
wrong.Visitor_id = new string('x', 101);
Tool.ErrorResponse error = new();
try { await tool.RecordConsentAsync(wrong); }
catch (Tool.ApiException<Tool.ErrorResponse> refused) { error = refused.Result; }
var signedIn = await panel.LoginAsync(new() { Email = Given("EMAIL"), Password = Given("PASSWORD") });
string panelError = "";
try { await panel.ListSitesAsync(null, null); }
catch (Panel.ApiException<Panel.ErrorResponse> refused) { panelError = refused.Result.Code; }

Console.WriteLine(System.Text.Json.JsonSerializer.Serialize(new
{
    pong = pong.Message.ToString()?.ToLowerInvariant(),
    token = recorded.Data.Consent_token,
    item = new object[] { item.Index, item.Error_code, item.Code },
    error = new[] { error.Code, error.Errors.First().Field },
    signedIn = new[] { signedIn.Data.Token_type.ToString(), signedIn.Data.Access_token.GetType().Name.ToLowerInvariant() },
    panelError,
}));

namespace Tool
{
    partial class ToolClient
    {
        // Null is not the same as absent for every member.
        static partial void UpdateJsonSerializerSettings(JsonSerializerSettings settings) =>
            settings.NullValueHandling = NullValueHandling.Ignore;
    }
}

namespace Panel
{
    partial class PanelClient
    {
        static partial void UpdateJsonSerializerSettings(JsonSerializerSettings settings) =>
            settings.NullValueHandling = NullValueHandling.Ignore;
    }
}
