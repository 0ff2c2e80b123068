import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { SelectInput } from '../../ui/fields.js';
import { LanguageBoxes } from '../../ui/language-boxes.js';
import { Section } from '../../ui/page.js';
import { BannerPreview } from '../banner/banner-preview.js';
import { defaultTextsOf } from '../banner/use-defaults.js';
import { chosenDraft, LAYOUTS, SCHEMES } from './banner-draft.js';
import type { StepProps } from './policy-step.js';
import { StepPage } from './step-page.js';

/** The choice of languages and look, with the banner that visitors will see. */
export function BannerStep({ found, kept, draft, answers }: StepProps) {
  const { wizard, banner } = useMessages();
  const { languageName, list } = useFormats();
  const navigate = useNavigate();
  const { id } = found.site;
  const { languages, defaultLanguage, layout, scheme, policyLanguage } = answers;
  const others = found.hasTextInForce ? [] : languages.filter((one) => one !== policyLanguage);
  // The preview stays while the texts of a further language load.
  const { data: texts } = useQuery({ ...defaultTextsOf(languages), placeholderData: keepPreviousData });
  const shown = languages.find((one) => one === kept.text('preview_language', '')) ?? defaultLanguage;
  const inLanguage = languages.map((value) => ({ value, label: languageName(value) }));
  return (
    <StepPage place="banner" siteId={id} lead={wizard.bannerLead}>
      <ActionForm
        submit={wizard.next}
        isKept
        action={() => navigate({ to: '/sites/new', search: { site: id, step: 'publish' } })}
      >
        <div className="columns">
          <div>
            <Section title={banner.languages}>
              <LanguageBoxes
                name="languages"
                label={wizard.languages}
                hint={wizard.chosenLanguages(list(languages.map(languageName)))}
                value={languages}
                others={draft.languages}
                onChange={(values) => kept.set({ languages: values })}
                required={wizard.noLanguage}
              />
              {others.length === 0 ? null : (
                <p className="hint">
                  {wizard.policyOnlyIn(languageName(policyLanguage), list(others.map(languageName)))}
                </p>
              )}
              {languages.length < 2 ? null : (
                <SelectInput
                  name="default_language"
                  label={wizard.standard}
                  value={defaultLanguage}
                  onChange={(value) => kept.set({ default_language: value })}
                  options={inLanguage}
                />
              )}
            </Section>
            <Section title={wizard.look}>
              <SelectInput
                name="layout"
                label={banner.look.layout}
                value={layout}
                onChange={(value) => kept.set({ layout: value })}
                options={LAYOUTS.map((value) => ({ value, label: banner.look.layouts[value] }))}
              />
              <SelectInput
                name="scheme"
                label={banner.look.scheme}
                value={scheme}
                onChange={(value) => kept.set({ scheme: value })}
                options={SCHEMES.map((value) => ({ value, label: banner.look.schemes[value] }))}
              />
            </Section>
          </div>
          <div className="sticky stack">
            {languages.length < 2 ? null : (
              <SelectInput
                name="preview_language"
                label={wizard.shownLanguage}
                value={shown}
                onChange={(value) => kept.set({ preview_language: value })}
                options={inLanguage}
              />
            )}
            {texts === undefined || languages.length === 0 ? null : (
              <BannerPreview draft={{ ...chosenDraft(draft, answers, texts), language: shown }} />
            )}
          </div>
        </div>
      </ActionForm>
    </StepPage>
  );
}
