import { LedgerKeysResponse } from '../../../schemas/api/checkpoints.js';
import { find } from './elements.js';
import { startStatusLine } from './language.js';
import type { StartedPage } from './page.js';

const KEYS = '/checkpoints/keys';
const ROOTS = '/checkpoints/tsa-roots.pem';

/** The keys and roots that the service publishes. */
export interface PublishedTrust {
  /** Fetches them for this check and the next ones. If they are unavailable, the page says so. */
  readonly use: () => Promise<void>;
}

/**
 * If a check lacks ledger keys or root certificates, offers those that the service publishes. They prove nothing
 * against the service itself, and the page says so as long as they are in use.
 */
export function startPublishedTrust({ language, publish, onChecked }: StartedPage): PublishedTrust {
  const button = find('published-trust', HTMLButtonElement);
  const { say } = startStatusLine('published-trust-note', language);
  const own = find('own-trust', HTMLButtonElement);
  onChecked((isTrustMissing, trust) => {
    button.hidden = !isTrustMissing;
    own.hidden = trust === 'reader';
  });
  own.addEventListener('click', () => {
    find('inputs', HTMLDetailsElement).open = true;
    find('keys-text', HTMLTextAreaElement).focus();
  });
  const use = async (): Promise<void> => {
    say(({ lookup }) => lookup.asking);
    const files = await publishedFiles().catch(() => null);
    say(({ page }) => (files === null ? page.publishedTrustAbsent : page.publishedTrustUsed));
    if (files !== null) await publish(files);
  };
  button.addEventListener('click', () => void use());
  return { use };
}

/** @throws Error if the service does not provide them */
async function publishedFiles(): Promise<File[]> {
  const [keys, roots] = await Promise.all([KEYS, ROOTS].map(answerOf));
  const { data } = LedgerKeysResponse.parse(await keys?.json());
  const lines = data.keys.map(({ key, ml_dsa_key }) => `${key}\n${ml_dsa_key}\n`);
  return [new File(lines, 'ledger.vkey'), new File([(await roots?.blob()) ?? ''], 'tsa-roots.pem')];
}

async function answerOf(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} answered with ${response.status}`);
  return response;
}
