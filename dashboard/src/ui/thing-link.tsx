import { Link, linkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { NamedThing } from '../api/types.js';
import { useUser } from '../app-context.js';
import { may } from '../rights.js';

interface ThingLinkProps {
  readonly thing: NamedThing;
  readonly children: ReactNode;
}

/** A link to the page of a thing, or its words alone if it has no page that the user may see. */
export function ThingLink({ thing, children }: ThingLinkProps) {
  const { role } = useUser();
  const place = placeOf(thing, role);
  return place === null ? children : <Link {...place}>{children}</Link>;
}

/** The page of a thing, or null if there is none that a user with the role may see. */
export function placeOf({ id, kind, site_id: siteId, document_id: documentId }: NamedThing, role: string) {
  if (kind === 'user' || kind === 'invitation') return may(role, 'seeTeam') ? linkOptions({ to: '/team' }) : null;
  if (siteId === null) return null;
  switch (kind) {
    case 'site':
      return linkOptions({ to: '/sites/$siteId', params: { siteId } });
    case 'consent':
      return linkOptions({ to: '/sites/$siteId/consents/$consentId', params: { siteId, consentId: id } });
    case 'erasure':
      return may(role, 'erase')
        ? linkOptions({ to: '/sites/$siteId/erasures/$erasureId', params: { siteId, erasureId: id } })
        : null;
    case 'export':
      return may(role, 'export') ? linkOptions({ to: '/sites/$siteId/evidence', params: { siteId } }) : null;
    case 'document':
    case 'document_version':
      return linkOptions({
        to: '/sites/$siteId/documents/$documentId',
        params: { siteId, documentId: documentId ?? id },
        search: { version: kind === 'document_version' ? id : undefined },
      });
    case 'api_key':
      return linkOptions({ to: '/sites/$siteId/api', params: { siteId } });
    case 'webhook':
      return may(role, 'seeWebhooks') ? linkOptions({ to: '/sites/$siteId/webhooks', params: { siteId } }) : null;
    default:
      return null;
  }
}
