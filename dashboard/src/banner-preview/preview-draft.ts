import { directionOf } from '../../../schemas/language/direction.js';
import { bannerLabels } from '../../../schemas/text/banner-labels.js';

type Texts = Readonly<Record<string, string>>;

/** Content of the preview. The dashboard sends it to the frame of the preview. */
export interface PreviewDraft {
  readonly languages: readonly string[];
  readonly language: string;
  readonly validity_days: number | null;
  readonly banner: Readonly<Record<string, Texts>>;
  readonly withdrawal: Texts;
  readonly controller: { readonly legal_name: string | null; readonly contact: string | null };
  readonly categories: readonly {
    readonly key: string;
    readonly required: boolean;
    readonly title: Texts;
    readonly purpose: Texts;
    readonly recipients: readonly string[];
  }[];
  readonly cookies: readonly {
    readonly name: string;
    readonly provider: string;
    readonly category: string;
    readonly duration_seconds: number | null;
    readonly purpose: Texts;
  }[];
}

/** Message that the frame sends once it takes a draft. */
export const PREVIEW_READY = 'banner preview ready';

const VERSION = '00000000-0000-4000-8000-000000000000';

/** The configuration of a draft in one language, as the Tool API would answer it after publication. */
export function configurationOf(draft: PreviewDraft, wanted: string): unknown {
  const language = draft.languages.includes(wanted) ? wanted : draft.language;
  const inLanguage = (texts: Texts): string => texts[language] ?? '';
  return {
    data: {
      language,
      languages: draft.languages,
      validity_days: draft.validity_days,
      direction: directionOf(language),
      banner: draft.banner[language] ?? {},
      labels: bannerLabels(draft.banner[language] ?? {}, language),
      withdrawal: draft.withdrawal[language] ?? null,
      controller: { legal_name: draft.controller.legal_name ?? '', contact: draft.controller.contact ?? '' },
      categories: draft.categories.map((category) => ({
        key: category.key,
        required: category.required,
        title: inLanguage(category.title),
        purpose: inLanguage(category.purpose),
        recipients: category.recipients,
        cookies: draft.cookies
          .filter((cookie) => cookie.category === category.key)
          .map((cookie) => ({ ...cookie, purpose: inLanguage(cookie.purpose) })),
      })),
      documents: [
        {
          slug: 'cookie-policy',
          kind: 'cookie_policy',
          requires_approval_token: false,
          version: { id: VERSION, language, title: '', media_type: 'text/plain' },
          content: '',
        },
      ],
      region: { country: null, compliance_framework: null },
    },
  };
}
