import { z } from 'zod';
import { ApprovalTokenRequest, ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import {
  AcceptInvitationRequest,
  ChangePasswordRequest,
  LoginRequest,
  LogoutRequest,
  MeResponse,
  RefreshRequest,
  ResetPasswordRequest,
  SignInsEndedResponse,
  TokensResponse,
} from '../../../schemas/api/auth.js';
import { ConfigResponse } from '../../../schemas/api/config.js';
import {
  BrowserConsentBatchRequest,
  BrowserConsentRequest,
  ConsentBatchResponse,
  ConsentResponse,
  S2sConsentBatchRequest,
  S2sConsentRequest,
} from '../../../schemas/api/consents.js';
import { ActiveDocumentResponse, ActiveDocumentsResponse } from '../../../schemas/api/documents.js';
import { ErasureReceiptResponse, S2sErasureRequest } from '../../../schemas/api/erasures.js';
import { ErrorResponse } from '../../../schemas/api/error-response.js';
import { ExportedConsent, ExportResponse } from '../../../schemas/api/export.js';
import { CreateExportRequest, EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
import { PingResponse } from '../../../schemas/api/ping.js';
import { StatusResponse } from '../../../schemas/api/status.js';
import {
  ClientTokenResponse,
  PublicVerifyRequest,
  PublicVerifyResponse,
  VerifyResponse,
} from '../../../schemas/api/verify.js';

/** What public verify answers, of a record or of a cookie that no record stands behind. */
const PublicVerifyAnswer = z.union([PublicVerifyResponse, ClientTokenResponse]);

/** The schemas that requests are checked with and responses are made by, under the names that the description gives them. */
export const COMPONENTS: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['AcceptInvitationRequest', AcceptInvitationRequest],
  ['ActiveDocumentResponse', ActiveDocumentResponse],
  ['ActiveDocumentsResponse', ActiveDocumentsResponse],
  ['ApprovalTokenRequest', ApprovalTokenRequest],
  ['ApprovalTokenResponse', ApprovalTokenResponse],
  ['BrowserConsentBatchRequest', BrowserConsentBatchRequest],
  ['BrowserConsentRequest', BrowserConsentRequest],
  ['ChangePasswordRequest', ChangePasswordRequest],
  ['ConfigResponse', ConfigResponse],
  ['ConsentBatchResponse', ConsentBatchResponse],
  ['ConsentResponse', ConsentResponse],
  ['ErasureReceiptResponse', ErasureReceiptResponse],
  ['CreateExportRequest', CreateExportRequest],
  ['ErrorResponse', ErrorResponse],
  ['EvidenceExportAnswer', EvidenceExportAnswer],
  ['ExportedConsent', ExportedConsent],
  ['ExportResponse', ExportResponse],
  ['LoginRequest', LoginRequest],
  ['LogoutRequest', LogoutRequest],
  ['MeResponse', MeResponse],
  ['PingResponse', PingResponse],
  ['PublicVerifyAnswer', PublicVerifyAnswer],
  ['PublicVerifyRequest', PublicVerifyRequest],
  ['RefreshRequest', RefreshRequest],
  ['ResetPasswordRequest', ResetPasswordRequest],
  ['S2sConsentBatchRequest', S2sConsentBatchRequest],
  ['S2sConsentRequest', S2sConsentRequest],
  ['S2sErasureRequest', S2sErasureRequest],
  ['SignInsEndedResponse', SignInsEndedResponse],
  ['StatusResponse', StatusResponse],
  ['TokensResponse', TokensResponse],
  ['VerifyResponse', VerifyResponse],
]);
