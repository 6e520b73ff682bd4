import { api, must, type Schemas } from "./client";

/** Where rules are kept and approvals wait: a project, or, without one, the whole installation, which is operators'. */
export type Place = string | undefined;

const at = (project: string) => ({ path: { project } });

export const guardianStatus = (place: Place) =>
  place ? must(api.GET("/v1/projects/{project}/guardian", { params: at(place) })) : must(api.GET("/v1/guardian"));

export const setRule = (place: Place, name: string, body: Schemas["SetGuardianRule"]) =>
  place
    ? must(api.PUT("/v1/projects/{project}/guardian/rules/{name}", { params: { path: { project: place, name } }, body }))
    : must(api.PUT("/v1/guardian/rules/{name}", { params: { path: { name } }, body }));

export const testRule = (place: Place, body: Schemas["TestGuardianRule"]) =>
  place ? must(api.POST("/v1/projects/{project}/guardian/rule-tests", { params: at(place), body })) : must(api.POST("/v1/guardian/rule-tests", { body }));

export const addOverride = (place: Place, body: Schemas["NewOverride"]) =>
  place ? must(api.POST("/v1/projects/{project}/guardian/overrides", { params: at(place), body })) : must(api.POST("/v1/guardian/overrides", { body }));

export const endOverride = (place: Place, override: string) =>
  place
    ? must(api.DELETE("/v1/projects/{project}/guardian/overrides/{override}", { params: { path: { project: place, override } } }))
    : must(api.DELETE("/v1/guardian/overrides/{override}", { params: { path: { override } } }));

export type ApprovalState = Schemas["GuardianApproval"]["state"];

export const approvals = (place: Place, state: ApprovalState | undefined, cursor?: string) => {
  const query = { limit: 100, state, cursor: cursor || undefined };
  return place ? must(api.GET("/v1/projects/{project}/approvals", { params: { ...at(place), query } })) : must(api.GET("/v1/approvals", { params: { query } }));
};

export const decideApproval = (place: Place, approval: string, body: Schemas["ApprovalDecision"]) =>
  place
    ? must(api.POST("/v1/projects/{project}/approvals/{approval}/decide", { params: { path: { project: place, approval } }, body }))
    : must(api.POST("/v1/approvals/{approval}/decide", { params: { path: { approval } }, body }));
