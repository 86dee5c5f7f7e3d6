/**
 * `@tallyhook/client`: the payment service and the webhooks of Tallyhook for a shop, without the Tallyhook
 * server. See docs/guides/client.md.
 */
export {
  type DeclineAdvice,
  type DeclineFamily,
  declineAdvice,
  type RetryAdvice,
} from '../contract/declines.ts';
export type { Page } from '../contract/lists.ts';
export type { RequestProblem } from '../contract/problems.ts';
export type {
  CancelPaymentRequest,
  CapturePaymentRequest,
  ConfirmPaymentRequest,
  ConfirmPayoutRequest,
  CreateApiKeyRequest,
  CreateCustomerRequest,
  CreatePaymentLinkRequest,
  CreatePaymentRequest,
  CreatePayoutRequest,
  CreateRefundRequest,
  DeleteEvidenceRequest,
  DisputeMetricsRequest,
  ListApiKeysQuery,
  ListCustomersQuery,
  ListDisputesQuery,
  ListPaymentLinksRequest,
  ListPaymentsRequest,
  ListPayoutsRequest,
  ListRefundsRequest,
  PaymentMetricsRequest,
  RefundMetricsRequest,
  RetrieveQuery,
  SubmitEvidenceRequest,
  UpdateApiKeyRequest,
  UpdateCustomerRequest,
  UpdatePaymentRequest,
  UpdatePayoutRequest,
  UpdateRefundRequest,
  UploadFileRequest,
} from '../contract/requests/index.ts';
export type {
  ApiKey,
  BusinessProfile,
  CreatedApiKey,
  Customer,
  DeletedCustomer,
  Dispute,
  Evidence,
  EvidenceResult,
  Metrics,
  Payment,
  PaymentLink,
  Payout,
  Refund,
  RevokedApiKey,
  UploadedFile,
} from '../contract/resources/index.ts';
export type { Clock } from '../platform/clock.ts';
export {
  isOrderWebhook,
  type VerifiedWebhook,
  type VerifyOptions,
  verifyTallyhookWebhook,
  type WebhookHeaders,
  type WebhookRefusal,
  type WebhookRequest,
  WebhookVerificationError,
} from '../webhooks/verify.ts';
export type {
  OrderWebhook,
  TallyhookWebhook,
  WebhookData,
  WebhookOf,
  WebhookType,
} from '../webhooks/webhooks.ts';
export type { AnalyticsCalls } from './analytics.ts';
export type { ApiKeyCalls } from './apiKeys.ts';
export { createLocalBudget, type RateBudget } from './budget.ts';
export type { BusinessProfileCalls } from './businessProfiles.ts';
export type { CaptureOptions } from './capture.ts';
export { type AdminClient, createAdminClient } from './createAdminClient.ts';
export { createClient, type PaymentServiceClient } from './createClient.ts';
export type { CustomerCalls } from './customers.ts';
export type { DisputeCalls } from './disputes.ts';
export { type Admission, LANES, type Lane, type RateReading } from './domain/rate.ts';
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from './domain/retry.ts';
export { type ClientErrorKind, PaymentServiceError } from './errors.ts';
export type { PaymentLinkCalls } from './paymentLinks.ts';
export type { CreatedPayment, PaymentCalls } from './payments.ts';
export type { PayoutCalls } from './payouts.ts';
export type { CreatedRefund, RefundCalls } from './refunds.ts';
export type { CallOptions, ResponseMetadata } from './send.ts';
export type { ClientOptions } from './settings.ts';
export type { ClientTime } from './time.ts';
