import { useNavigate } from '@tanstack/react-router';
import { USUAL_CATEGORIES } from '../../../../schemas/banner/language-texts.js';
import { ApiFailure } from '../../api/failure.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Boxes, SelectInput, TextInput } from '../../ui/fields.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { TEMPLATE_LANGUAGES } from '../documents/policy-templates/load-template.js';
import { type Answers, factProblems } from './answers.js';
import type { Found } from './existing.js';
import { StepPage } from './step-page.js';
import type { Kept } from './use-kept.js';

export interface StepProps {
  readonly found: Found;
  readonly kept: Kept;
  readonly draft: ConfigurationDraft;
  readonly answers: Answers;
}

/** Longest name and contact of a controller, in characters (`schemas/events/site-config.ts`). */
const MOST = { legal_name: 300, contact: 500 } as const;

/** Asks for every fact that the policy states. None has a default. */
export function PolicyStep({ found, kept, answers }: StepProps) {
  const { wizard, banner } = useMessages();
  const { languageName } = useFormats();
  const navigate = useNavigate();
  const { id } = found.site;
  const needsPolicy = !found.hasTextInForce;
  const fact = (name: string, value: string, rows = 1) => ({
    name,
    value,
    rows,
    isRequired: true,
    onChange: (text: string) => kept.set({ [name]: text }),
  });
  const { legalName, contact, facts } = answers;
  return (
    <StepPage place="policy" siteId={id} lead={wizard.policyLead}>
      <ActionForm
        submit={wizard.next}
        isKept
        action={async () => {
          const problems = factProblems(answers, needsPolicy);
          if (problems.length > 0) throw new ApiFailure('VALIDATION_ERROR', '', 422, problems);
          await navigate({ to: '/sites/new', search: { site: id, step: 'banner' } });
        }}
      >
        {needsPolicy ? (
          <SelectInput
            name="policy_language"
            label={wizard.policyLanguage}
            hint={wizard.policyLanguageHint}
            value={answers.policyLanguage}
            onChange={(value) => kept.set({ policy_language: value })}
            options={TEMPLATE_LANGUAGES.map((value) => ({ value, label: languageName(value) }))}
          />
        ) : (
          <Notice kind="info">
            <p>{wizard.textInForce}</p>
          </Notice>
        )}
        <Section title={wizard.controller}>
          <div className="form">
            <TextInput {...fact('legal_name', legalName)} label={banner.legalName} maxLength={MOST.legal_name} />
            {needsPolicy ? <TextInput {...fact('address', facts.address, 2)} label={wizard.address} /> : null}
            <TextInput
              {...fact('contact', contact)}
              label={banner.contact}
              hint={wizard.contactHint}
              maxLength={MOST.contact}
            />
          </div>
        </Section>
        <Section title={wizard.processing}>
          <div className="form">
            <Boxes
              name="categories"
              label={wizard.categories}
              hint={wizard.categoriesHint}
              value={answers.categories}
              onChange={(categories) => kept.set({ categories })}
              required={wizard.noCategory}
              options={USUAL_CATEGORIES.map((value) => ({ value, label: banner.defaults.usual[value] }))}
            />
            {needsPolicy ? (
              <>
                <TextInput {...fact('what', facts.what, 4)} label={wizard.what} hint={wizard.whatHint} />
                <TextInput
                  {...fact('recipients', facts.recipients, 3)}
                  label={wizard.recipients}
                  hint={wizard.recipientsHint}
                />
                <TextInput {...fact('periods', facts.periods, 3)} label={wizard.periods} hint={wizard.periodsHint} />
              </>
            ) : null}
          </div>
        </Section>
        {needsPolicy ? (
          <Section title={wizard.rights}>
            <div className="form">
              <TextInput {...fact('rights', facts.rights, 3)} label={wizard.rightsText} hint={wizard.rightsHint} />
            </div>
          </Section>
        ) : null}
      </ActionForm>
    </StepPage>
  );
}
