// For a page that does without the browser SDK (docs/sdk.md): nothing but fetch and WebCrypto. The API key of a site is not secret there.
//   import { recordConsent } from './browser.js';
//   const consent = await recordConsent('https://consent.example.org', 'svc_live_…', { decision: 'partial', categories: { analytics: true } });

const encoder = new TextEncoder();

const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The headers that sign a POST: HMAC-SHA256, with the API key as key, of the request's canonical form. */
export async function signedHeaders(apiKey, path, body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const bodyHash = hex(await crypto.subtle.digest('SHA-256', encoder.encode(body)));
  const canonical = ['POST', path, timestamp, nonce, bodyHash].join('\n');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(apiKey), algorithm, false, ['sign']);
  return {
    'Content-Type': 'application/json',
    'X-API-Key': apiKey,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': hex(await crypto.subtle.sign('HMAC', key, encoder.encode(canonical))),
  };
}

/** Records what a visitor chose in the cookie banner. @returns consent_token, proof_hash, created_at, duplicate */
export async function recordConsent(baseUrl, apiKey, choice, language = 'en') {
  const config = await fetch(`${baseUrl}/tool/v1/config?language=${language}`, { headers: { 'X-API-Key': apiKey } });
  if (!config.ok) throw new Error(`the configuration was answered with ${config.status}`);
  const { data } = await config.json();
  const policy = data.documents.find((document) => document.kind === 'cookie_policy');
  const body = JSON.stringify({
    consent_type: 'cookie',
    document_version_id: policy.version.id,
    compliance_framework: data.region.compliance_framework,
    visitor_country: data.region.country,
    // One for each action of the visitor: a retry sends the same.
    idempotency_key: hex(crypto.getRandomValues(new Uint8Array(16))),
    ...choice,
  });
  const path = '/tool/v1/consents';
  const answer = await fetch(baseUrl + path, {
    method: 'POST',
    headers: await signedHeaders(apiKey, path, body),
    body,
  });
  const { data: consent, code } = await answer.json();
  if (!answer.ok) throw new Error(`the consent was refused: ${code}`);
  return consent;
}
