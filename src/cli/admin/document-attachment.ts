import type { Command } from 'commander';
import type { DocumentAttachment } from '../../../schemas/api/panel/documents.js';
import { documentAudit } from '../../api/panel/documents/audit.js';
import { attachmentOf } from '../../api/panel/documents/show-attachments.js';
import { documentOf } from '../../api/panel/documents/show-documents.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { Queryable } from '../../platform/database/pool.js';
import { attachDocument, detachDocument } from '../../tenancy/documents/attach-document.js';
import { siteOfDocument, tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface AttachmentOptions {
  readonly json?: boolean;
  readonly site: string;
}

/** `admin document attach` */
export function attachCommand(context: CliContext): Command {
  return attachmentCommand(context, {
    name: 'attach',
    description: 'attach a document to a further site of its tenant',
    action: 'document.attach',
    done: 'attached to',
    work: async (db, homeId, id, siteId) => {
      const { changed } = await attachDocument(db, homeId, id, siteId);
      return { attachment: await attachmentOf(db, id, siteId), more: { changed } };
    },
  });
}

/** `admin document detach` */
export function detachCommand(context: CliContext): Command {
  return attachmentCommand(context, {
    name: 'detach',
    description: 'detach a document from a site, and retire its versions there',
    action: 'document.detach',
    done: 'detached from',
    work: async (db, homeId, id, siteId) => {
      const attachment = await attachmentOf(db, id, siteId);
      await detachDocument(db, homeId, id, siteId);
      return { attachment, more: {} };
    },
  });
}

interface AttachmentChange {
  readonly name: string;
  readonly description: string;
  /** Action of the audit log. */
  readonly action: string;
  /** Participle for the result, printed before the domain of the site, e.g. `attached to`. */
  readonly done: string;
  readonly work: (
    db: Queryable,
    homeId: string,
    documentId: string,
    siteId: string,
  ) => Promise<{ readonly attachment: DocumentAttachment; readonly more: { readonly changed?: boolean } }>;
}

function attachmentCommand(context: CliContext, { name, description, action, done, work }: AttachmentChange): Command {
  return jsonCommand(name, description)
    .argument('<document>', 'id of the document', uuid)
    .requiredOption('--site <id>', 'id of the other site', uuid)
    .action(async (id: string, options: AttachmentOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const attached = await changeAsOperator(adminPool, async (db) => {
          const homeId = await siteOfDocument(db, id);
          const { attachment, more } = await work(db, homeId, id, options.site);
          const document = await documentOf(db, homeId, id);
          const tenantId = await tenantOfSite(db, homeId);
          const audit = documentAudit(document, homeId, { attached_site_id: options.site, ...more });
          return { result: attachment, tenantId, action, ...audit };
        });
        print(context, options, attached, [`Document ${id} is ${done} ${attached.domain}.`]);
      });
    });
}
