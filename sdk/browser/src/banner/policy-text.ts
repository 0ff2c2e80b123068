import { cookiePolicyOf } from '../../../core/choice.js';
import type { ConsentSource } from '../../../core/consent.js';

/** Reads the text that the consent refers to when the visitor opens the text in the settings. */
export function fillPolicy(consent: ConsentSource, dialog: HTMLElement): void {
  const { configuration } = consent.state;
  const policy = configuration === null ? undefined : cookiePolicyOf(configuration);
  const text = dialog.querySelector('.policy .text');
  if (policy === undefined || text === null) return;
  dialog.querySelector('.policy')?.addEventListener(
    'toggle',
    () => {
      consent.document(policy.slug).then(
        ({ version, content }) => {
          // Other types would need a viewer: the site links to its own page for them.
          const type = version.media_type;
          if (type === 'text/html') text.textContent = plain(content);
          // The marks of headings and of bold words, which nobody wants to read.
          else if (type === 'text/markdown') text.textContent = content.replace(/^#+ |\*\*/gm, '');
          else if (type.startsWith('text/')) text.textContent = content;
        },
        ({ message }: Error) => {
          text.textContent = message;
        },
      );
    },
    { once: true },
  );
}

/** The text of a document in HTML. Nothing of it is inserted into the page. */
function plain(html: string): string {
  try {
    return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? '';
  } catch {
    // The page requires trusted types.
    return html;
  }
}
