import { Link, useNavigate } from '@tanstack/react-router';
import type { Site } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { linesOf, TextInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';
import { domainIn } from '../sites/domain-in.js';
import { DomainSection } from '../sites/domain-section.js';
import { siteOf } from './calls.js';
import { StepPage } from './step-page.js';
import type { Kept } from './use-kept.js';

/** Asks for the name and the domain of a site, and adds it. */
export function NewSite({ kept }: { readonly kept: Kept }) {
  const { wizard, sites } = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const add = useAction(() =>
    siteOf(api, {
      name: kept.text('name', '').trim(),
      domain: domainIn(kept.text('domain', '')),
      // Without one, a publishable key works on the domain and what is below it.
      allowed_origins: linesOf(kept.text('allowed_origins', '')),
    }),
  );
  const field = (name: string) => ({
    name,
    value: kept.text(name, ''),
    onChange: (text: string) => kept.set({ [name]: text }),
  });
  return (
    <StepPage place="site" siteId={null} lead={wizard.siteLead}>
      <Section title={sites.domainTitle}>
        <ActionForm
          submit={wizard.next}
          isKept
          action={async () => {
            const site = await add(undefined);
            kept.moveTo(site.id);
            await navigate({ to: '/sites/new', search: { site: site.id, step: 'site' }, replace: true });
          }}
        >
          <TextInput {...field('name')} label={sites.name} hint={sites.nameHint} isRequired />
          <TextInput {...field('domain')} label={sites.domain} hint={sites.domainHint} isRequired />
          <details>
            <summary>{wizard.elsewhere}</summary>
            <TextInput {...field('allowed_origins')} label={sites.origins} hint={sites.originsHint} rows={3} isCode />
          </details>
        </ActionForm>
        <p className="hint">{wizard.kept}</p>
      </Section>
    </StepPage>
  );
}

/** The site that was added, and the proof of its domain. */
export function AddedSite({ site }: { readonly site: Site }) {
  const { wizard, sites } = useMessages();
  return (
    <StepPage place="site" siteId={site.id} lead={wizard.added}>
      <DomainSection site={site} />
      <Section title={sites.settings}>
        <Facts
          items={[
            [sites.name, site.name],
            [sites.domain, site.domain],
            ...(site.allowed_origins.length === 0 ? [] : [[sites.origins, site.allowed_origins.join(', ')] as const]),
          ]}
        />
        <p>
          <Link to="/sites/$siteId" params={{ siteId: site.id }}>
            {wizard.toSettings}
          </Link>
        </p>
      </Section>
      {site.verified_at === null ? <p>{wizard.later}</p> : null}
      <div className="actions">
        <Link className="button button-primary" to="/sites/new" search={{ site: site.id, step: 'policy' }}>
          {wizard.next}
        </Link>
      </div>
    </StepPage>
  );
}
