import { useState } from 'react';
import type { Appearance } from '../../../../schemas/banner/appearance.js';
import { DEFAULT_APPEARANCE } from '../../../../sdk/banner/default-appearance.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useMay } from '../../app-context.js';
import type { PreviewDraft } from '../../banner-preview/preview-draft.js';
import { useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { useUnsaved } from '../../ui/unsaved.js';
import { useSiteId } from '../sites/use-site.js';
import { AppearanceForm } from './appearance-form.js';
import { BannerPreview } from './banner-preview.js';
import { CategorySection } from './category-section.js';
import { CookieSection } from './cookie-section.js';
import { DefaultSection } from './default-section.js';
import { DraftState } from './draft-state.js';
import { IabForm } from './iab-form.js';
import { ScanSection } from './scan-section.js';
import { SettingsForm } from './settings-form.js';
import { TextsForm, type WrittenTexts } from './texts-form.js';
import { useDefaults } from './use-defaults.js';
import { useDraft } from './use-draft.js';

/** The draft of what the banner says, with a preview. */
export function Banner() {
  const { banner } = useMessages();
  const siteId = useSiteId();
  const query = useDraft(siteId);
  return (
    <Page key={siteId} title={banner.title} lead={banner.lead}>
      <Loaded query={query}>{(draft) => <Draft siteId={siteId} draft={draft} />}</Loaded>
    </Page>
  );
}

interface DraftProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

function Draft({ siteId, draft }: DraftProps) {
  const { banner } = useMessages();
  const mayChange = useMay('changeSites');
  const [chosen, setChosen] = useState<string | null>(null);
  /** What was typed and not saved, by language. */
  const [written, setWritten] = useState<Readonly<Record<string, WrittenTexts>>>({});
  // What was typed in a language that has been removed has no form any more. It is back if the language comes back.
  useUnsaved(() => (draft.languages.some((one) => written[one] !== undefined) ? 'typed' : null));
  const [filled, setFilled] = useState(0);
  const defaults = useDefaults(siteId, draft);
  const [edited, setAppearance] = useState<Appearance | null>(null);
  const appearance = edited ?? draft.appearance ?? DEFAULT_APPEARANCE;
  const language = draft.languages.find((one) => one === chosen) ?? draft.default_language ?? draft.languages[0];
  return (
    <>
      <DraftState siteId={siteId} draft={draft} unconfirmed={defaults?.unconfirmed} />
      <SettingsForm siteId={siteId} draft={draft} />
      {defaults === undefined || draft.languages.length === 0 || !mayChange ? null : (
        <DefaultSection
          siteId={siteId}
          draft={draft}
          defaults={defaults}
          onFilled={() => {
            // The forms begin again, with the texts that were filled in.
            setFilled(filled + 1);
            setWritten({});
          }}
        />
      )}
      {language === undefined ? (
        <Section title={banner.texts}>
          <p>{banner.firstSettings}</p>
        </Section>
      ) : (
        <div className="columns">
          <div className="stack">
            <TextsForm
              key={filled}
              siteId={siteId}
              draft={draft}
              language={language}
              defaults={defaults}
              isReadOnly={!mayChange}
              written={written}
              onLanguage={setChosen}
              onWrite={(name, text) =>
                setWritten((before) => ({ ...before, [language]: { ...before[language], [name]: text } }))
              }
              onSaved={(saved, texts) => setWritten((before) => withoutSaved(before, saved, texts))}
            />
            {mayChange ? <AppearanceForm siteId={siteId} appearance={appearance} onChange={setAppearance} /> : null}
          </div>
          <div className="sticky">
            <BannerPreview draft={{ ...shownDraft(draft, language, written[language] ?? {}), appearance }} />
          </div>
        </div>
      )}
      <CategorySection siteId={siteId} draft={draft} defaults={defaults} />
      <CookieSection siteId={siteId} draft={draft} />
      {mayChange ? <IabForm siteId={siteId} draft={draft} /> : null}
      <ScanSection siteId={siteId} draft={draft} />
    </>
  );
}

/** What is still not saved. A text that was changed while it was sent stays. */
function withoutSaved(
  before: Readonly<Record<string, WrittenTexts>>,
  language: string,
  saved: WrittenTexts,
): Readonly<Record<string, WrittenTexts>> {
  const { [language]: written = {}, ...others } = before;
  const left = Object.entries(written).filter(([name, text]) => saved[name] !== text);
  return left.length === 0 ? others : { ...others, [language]: Object.fromEntries(left) };
}

/** The draft with the texts that are being written. */
function shownDraft(draft: ConfigurationDraft, language: string, { withdrawal, ...texts }: WrittenTexts): PreviewDraft {
  return {
    ...draft,
    language,
    banner: { ...draft.banner, [language]: { ...draft.banner[language], ...texts } },
    withdrawal: withdrawal === undefined ? draft.withdrawal : { ...draft.withdrawal, [language]: withdrawal },
  };
}
