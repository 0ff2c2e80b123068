import { useMessages } from '../../i18n/locale.js';
import { Copyable } from '../../ui/copy.js';
import { Section } from '../../ui/page.js';
import { pageSnippet, WAITING_SCRIPT } from './page-snippet.js';
import { NONCE_IN_TEXT, securityPolicy } from './security-policy.js';

interface IntegrationProps {
  /** Publishable key of the site, or null if none can be shown. */
  readonly pageKey: string | null;
  /** Secret key that was just created, or null if there is none. */
  readonly secretKey: string | null;
}

/** Code for pages and backends. */
export function Integration({ pageKey, secretKey }: IntegrationProps) {
  const { keys } = useMessages();
  const service = location.origin;
  return (
    <Section title={keys.integrate} lead={keys.integrateLead}>
      <div className="columns">
        <div className="stack">
          <h3>{keys.browser}</h3>
          <p>{keys.browserText}</p>
          <Copyable label={keys.browser} text={pageSnippet(service, pageKey ?? keys.placeholder)} />
          <p>{keys.gated}</p>
          <Copyable label={keys.gated} text={WAITING_SCRIPT} />
          <h3>{keys.policy}</h3>
          <p>{keys.policyText}</p>
          <Copyable
            label={keys.policyByOrigin}
            text={`Content-Security-Policy: ${securityPolicy(service, 'origin')}`}
          />
          <p>{keys.policyByNonceText(NONCE_IN_TEXT)}</p>
          <Copyable label={keys.policyByNonce} text={`Content-Security-Policy: ${securityPolicy(service, 'nonce')}`} />
          <p>{keys.policyOfYours}</p>
          <p>{keys.trustedTypes}</p>
        </div>
        <div className="stack">
          <h3>{keys.node}</h3>
          <p>{keys.nodeText}</p>
          <Copyable label={keys.node} text={nodeExample(service, secretKey ?? keys.placeholder)} />
          <p>
            {keys.others} <a href="/openapi/tool-api.json">OpenAPI</a>
          </p>
        </div>
      </div>
    </Section>
  );
}

function nodeExample(baseUrl: string, apiKey: string): string {
  return `import { ConsentLedger } from '@consent-ledger/node';

const ledger = new ConsentLedger({
  baseUrl: '${baseUrl}',
  apiKey: '${apiKey}',
  user: { email: process.env.CONSENT_USER, password: process.env.CONSENT_PASSWORD },
});
const { version } = await ledger.document('cookie-policy', 'en');
const { consent_token } = await ledger.record({
  consent_type: 'cookie',
  decision: 'accepted',
  document_version_id: version.id,
  visitor_id: 'customer-1',
});`;
}
