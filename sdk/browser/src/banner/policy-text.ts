import { cookiePolicyOf } from '../../../core/choice.js';
import type { ConsentSource } from '../../../core/consent.js';

/** Reads the text that the consent refers to when the visitor opens the text in the settings. */
export function fillPolicy(consent: ConsentSource, dialog: HTMLElement): void {
  const { configuration } = consent.state;
  const policy = configuration && cookiePolicyOf(configuration);
  const text = dialog.querySelector('.policy .text');
  if (!policy || !text) return;
  dialog.querySelector('.policy')?.addEventListener(
    'toggle',
    () => {
      consent.document(policy.slug).then(
        ({ version: { media_type: type }, content }) => {
          // Other types would need a viewer: the site links to its own page for them. The marks of headings in Markdown
          // are nothing to read.
          if (type.startsWith('text/'))
            text.textContent = type === 'text/html' ? plain(content) : content.replace(/^#+ /gm, '');
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
function plain(html: string): string | null {
  try {
    return new DOMParser().parseFromString(html, 'text/html').body.textContent;
  } catch {
    // The page requires trusted types.
    return html;
  }
}
