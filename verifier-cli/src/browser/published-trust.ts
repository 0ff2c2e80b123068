import { LedgerKeysResponse } from '../../../schemas/api/checkpoints.js';
import type { Texts } from '../i18n/texts.js';
import { chooseFiles } from './choose-file.js';
import { find } from './elements.js';
import type { StartedPage } from './page.js';

const KEYS = '/checkpoints/keys';
const ROOTS = '/checkpoints/tsa-roots.pem';

/**
 * Offers the ledger keys and root certificates that the service publishes, where a check lacks
 * them. They prove nothing against the service itself, which the page says as long as they count.
 */
export function startPublishedTrust({ language, onChecked }: StartedPage): void {
  const { texts } = language;
  const button = find('published-trust', HTMLButtonElement);
  const note = find('published-trust-note', HTMLElement);
  let said: (of: Texts) => string = () => '';
  const say = (text: (of: Texts) => string): void => {
    said = text;
    note.textContent = text(texts());
  };
  onChecked((isTrustMissing) => {
    button.hidden = !isTrustMissing;
  });
  button.addEventListener('click', () => {
    say(({ lookup }) => lookup.asking);
    void publishedFiles().then(
      (files) => {
        say(({ page }) => page.publishedTrustUsed);
        chooseFiles('roots', files);
      },
      () => say(({ page }) => page.publishedTrustAbsent),
    );
  });
  language.onChange(() => say(said));
}

/** @throws Error if the service does not give them */
async function publishedFiles(): Promise<File[]> {
  const [keys, roots] = await Promise.all([KEYS, ROOTS].map(answerOf));
  const { data } = LedgerKeysResponse.parse(await keys?.json());
  const lines = data.keys.map(({ key }) => `${key}\n`);
  return [new File(lines, 'ledger.vkey'), new File([(await roots?.blob()) ?? ''], 'tsa-roots.pem')];
}

async function answerOf(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} answered with ${response.status}`);
  return response;
}
