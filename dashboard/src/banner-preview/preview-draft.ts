import type { Appearance } from '../../../schemas/banner/appearance.js';
import { bannerInLanguage } from '../../../schemas/banner/banner-in-language.js';
import { loadTexts } from '../../../schemas/banner/load-texts.js';
import type { ConfigurationDraft } from '../api/types.js';

/** Content of the preview. The dashboard sends it to the frame of the preview. */
export interface PreviewDraft
  extends Pick<
    ConfigurationDraft,
    'languages' | 'validity_days' | 'banner' | 'withdrawal' | 'controller' | 'categories' | 'cookies'
  > {
  readonly language: string;
  readonly appearance?: Appearance | undefined;
  /** What a look with light and dark colours is shown in; if omitted, what the browser asks for. */
  readonly scheme?: 'light' | 'dark' | undefined;
}

/** Message that the frame sends once it takes a draft. */
export const PREVIEW_READY = 'banner preview ready';

const VERSION = '00000000-0000-4000-8000-000000000000';

/** The configuration of a draft in one language, as the Tool API would answer it after publication. */
export async function configurationOf(draft: PreviewDraft, wanted: string): Promise<unknown> {
  const language = draft.languages.includes(wanted) ? wanted : draft.language;
  const { legal_name: legalName, contact } = draft.controller;
  const labels = (await loadTexts(language))?.labels;
  const controller = { legal_name: legalName ?? '', contact: contact ?? '' };
  return {
    data: {
      ...bannerInLanguage({ ...draft, controller }, language, language, labels),
      validity_days: draft.validity_days,
      refusal_days: null,
      documents: [
        {
          slug: 'cookie-policy',
          kind: 'cookie_policy',
          requires_approval_token: false,
          version: { id: VERSION, language, title: '', media_type: 'text/plain' },
          content: '',
        },
      ],
      region: { country: null, region: null, compliance_framework: null, signal_is_request: false },
    },
  };
}
