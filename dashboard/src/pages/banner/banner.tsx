import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Appearance } from '../../../../schemas/banner/appearance.js';
import { DEFAULT_APPEARANCE } from '../../../../sdk/banner/default-appearance.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useMay } from '../../app-context.js';
import type { PreviewDraft } from '../../banner-preview/preview-draft.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';
import { useUnsaved } from '../../ui/unsaved.js';
import { useSiteId } from '../sites/use-site.js';
import { AppearanceForm } from './appearance-form.js';
import { BannerPreview } from './banner-preview.js';
import { CategorySection } from './category-section.js';
import { CookieSection } from './cookie-section.js';
import { DefaultSection } from './default-section.js';
import { IabForm } from './iab-form.js';
import { PublishSection } from './publish-section.js';
import { RuleSection } from './rule-section.js';
import { ScanSection } from './scan-section.js';
import { SectionBody } from './section-body.js';
import { SectionLinks } from './section-links.js';
import { type BannerSection, sectionsFor } from './sections.js';
import { SettingsFirst } from './settings-first.js';
import { SettingsForm } from './settings-form.js';
import { TextsForm, type WrittenTexts } from './texts-form.js';
import { useDefaults } from './use-defaults.js';
import { useDraft } from './use-draft.js';

/** The draft of what the banner says, in sections, with a preview that stays in view. */
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
  const sections = sectionsFor(mayChange);
  const { section: inPath } = useParams({ strict: false });
  const { language: chosen } = useSearch({ strict: false });
  // Without languages, nothing else can be written. The page stays there when the first ones are saved.
  const [first] = useState<BannerSection>(draft.languages.length === 0 ? 'settings' : 'texts');
  const section = sections.find((one) => one === inPath) ?? first;
  const navigate = useNavigate();
  /** What was typed and not saved, by language. */
  const [written, setWritten] = useState<Readonly<Record<string, WrittenTexts>>>({});
  const [edited, setAppearance] = useState<Appearance | null>(null);
  const [filled, setFilled] = useState(0);
  const [left, setLeft] = useState(section);
  if (left !== section) {
    // The user was asked before the section was left.
    setLeft(section);
    setWritten({});
    setAppearance(null);
  }
  // What was typed in a language that has been removed has no form any more. It is back if the language comes back.
  useUnsaved(() => (draft.languages.some((one) => written[one] !== undefined) ? 'typed' : null));
  const defaults = useDefaults(siteId, draft);
  const appearance = edited ?? draft.appearance ?? DEFAULT_APPEARANCE;
  const language = draft.languages.find((one) => one === chosen) ?? draft.default_language ?? draft.languages[0];
  const choose = (tag: string) =>
    void navigate({
      to: '/sites/$siteId/banner/$section',
      params: { siteId, section },
      search: { language: tag },
      replace: true,
      resetScroll: false,
    });
  const texts =
    language === undefined ? (
      <SettingsFirst siteId={siteId} title={banner.texts} />
    ) : (
      <>
        {defaults === undefined || !mayChange ? null : (
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
        <TextsForm
          key={filled}
          siteId={siteId}
          draft={draft}
          language={language}
          defaults={defaults}
          isReadOnly={!mayChange}
          written={written}
          onLanguage={choose}
          onWrite={(name, text) =>
            setWritten((before) => ({ ...before, [language]: { ...before[language], [name]: text } }))
          }
          onSaved={(saved, texts) => setWritten((before) => withoutSaved(before, saved, texts))}
        />
      </>
    );
  const contents: Readonly<Record<BannerSection, () => React.ReactNode>> = {
    texts: () => texts,
    look: () => <AppearanceForm siteId={siteId} appearance={appearance} onChange={setAppearance} />,
    categories: () => (
      <>
        <CategorySection siteId={siteId} draft={draft} defaults={defaults} />
        <CookieSection siteId={siteId} draft={draft} />
      </>
    ),
    rules: () => <RuleSection siteId={siteId} draft={draft} />,
    settings: () => <SettingsForm siteId={siteId} draft={draft} />,
    iab: () => <IabForm siteId={siteId} draft={draft} />,
    scan: () => <ScanSection siteId={siteId} draft={draft} />,
    publish: () => <PublishSection siteId={siteId} draft={draft} unconfirmed={defaults?.unconfirmed} />,
  };
  return (
    <>
      <DraftLine draft={draft} />
      <SectionLinks siteId={siteId} sections={sections} current={section} problems={draft.problems} />
      <div className="with-preview">
        <SectionBody section={section} label={banner.sections[section]}>
          {contents[section]()}
        </SectionBody>
        {/* Rules do not change what the banner looks like, and their table needs the room. */}
        {language === undefined || section === 'rules' ? null : (
          <aside className="preview-side" aria-label={banner.preview}>
            <BannerPreview
              draft={{ ...shownDraft(draft, language, written[language] ?? {}), appearance }}
              languages={draft.languages}
              onLanguage={choose}
              showsUnsaved={section === 'texts' || section === 'look'}
            />
          </aside>
        )}
      </div>
    </>
  );
}

/** The version in force, and whether the draft differs. It is read out when that changes. */
function DraftLine({ draft }: { readonly draft: ConfigurationDraft }) {
  const { banner } = useMessages();
  const { number } = useFormats();
  return (
    <p role="status" className="draft-line">
      {draft.in_force === null
        ? banner.noneInForce
        : `${banner.inForce(number(draft.in_force.number))} ${draft.has_changes ? banner.changed : banner.unchanged}`}
    </p>
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
function shownDraft(draft: ConfigurationDraft, language: string, written: WrittenTexts): PreviewDraft {
  const { withdrawal, withdrawal_url: _, ...texts } = written;
  return {
    ...draft,
    language,
    banner: { ...draft.banner, [language]: { ...draft.banner[language], ...texts } },
    withdrawal: withdrawal === undefined ? draft.withdrawal : { ...draft.withdrawal, [language]: withdrawal },
  };
}
